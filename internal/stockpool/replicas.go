package stockpool

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Wanted is how many pods a pool is to have of which so many are in use, if no budget
// holds it.
func (d Declaration) Wanted(used int) int {
	if d.Keep == KeepAvailable {
		return min(d.Maximum, d.Replicas+used)
	}
	return d.Replicas
}

// count says how many pods the Deployment is to have now: what is declared, no more than
// it has while a budget holds it, and none while one has it paused. What can't be told
// neither grows nor pauses it.
func (d *decider) count() {
	has := replicasOf(d.Seen.Deployment)
	if !d.own() {
		has = 0
	}
	to := d.Declaration.Wanted(d.taken())
	if of := d.Seen.Deployment; d.bornTaken(of) {
		to = min(to, max(has, d.Declaration.Replicas))
		d.warn("each new pod counts as in use, since its Deployment gives it labels that allocated_selector selects (%s): the pool does not grow for "+
			"those. Take them out of it: kubectl edit deployment/%s -n %s", d.Declaration.AllocatedSelector, of.Name, of.Namespace)
	}
	d.asked = to
	j := &d.plan.Journal
	held := slices.ContainsFunc(d.Covers, Cover.holds)
	switch {
	case d.pausing() != nil:
		to = 0
	case held:
		to = d.sparing(min(to, has), has)
	default:
		to = d.sparing(to, has)
	}
	d.plan.Replicas = to
	if !held {
		if since := j.HeldSince; since != nil {
			j.tell(j.about(d.Declaration, d.Now).Since(history.GateOpened, *since))
		}
		j.HeldSince = nil
	} else if j.HeldSince == nil {
		now := d.Now
		j.HeldSince = &now
		j.tell(j.about(d.Declaration, now, d.heldBack()...).Since(history.GateClosed, now))
	}
}

// pausing is a budget that wants the pool stopped now; nil where none does.
func (d *decider) pausing() *Cover {
	n := slices.IndexFunc(d.Covers, func(c Cover) bool { return c.Exceeded && c.Pauses && !c.Unknown })
	if n < 0 {
		return nil
	}
	return &d.Covers[n]
}

// heldBack is why the pool may not grow; nil where it may.
func (d *decider) heldBack() []string {
	var reasons []string
	for _, c := range d.Covers {
		if c.holds() {
			reasons = append(reasons, c.Reason)
		}
	}
	return reasons
}

// allocated says whether a pod is in use.
func (d *decider) allocated(p Pod) bool {
	return d.used != nil && !p.Ended() && d.used.Matches(labels.Set(p.Labels))
}

// taken is how many of the pods are in use.
func (d *decider) taken() int {
	n := 0
	for _, p := range d.Seen.Pods {
		if d.allocated(p) {
			n++
		}
	}
	return n
}

func isAre(n int) string { return wording.Plural(n, "is", "are") }

func listed(names []string) string { return strings.Join(names, ", ") }
