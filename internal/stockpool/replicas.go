package stockpool

import (
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// count says how many pods the Deployment is to have now: what is declared, no more than
// it has while a budget holds it, and none while one has it paused. What can't be told
// neither grows nor pauses it.
func (d *decider) count() {
	has := replicasOf(d.Seen.Deployment)
	if !d.own() {
		has = 0
	}
	to := d.Declaration.Replicas
	if d.Declaration.Keep == KeepAvailable {
		to = min(d.Declaration.Maximum, to+d.taken())
	}
	d.asked = to
	j := &d.plan.Journal
	switch {
	case d.pausing() != nil:
		to = 0
	case slices.ContainsFunc(d.Covers, Cover.holds):
		to = min(to, has)
	}
	d.plan.Replicas = to
	if !slices.ContainsFunc(d.Covers, Cover.holds) {
		if since := j.HeldSince; since != nil {
			j.tell(j.about(d.Declaration, d.Now).GateOpened(*since))
		}
		j.HeldSince = nil
	} else if j.HeldSince == nil {
		now := d.Now
		j.HeldSince = &now
		j.tell(j.about(d.Declaration, now, d.heldBack()...).GateClosed(now))
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

// SpareCost is the deletion cost that spares a pod: a ReplicaSet ends those that cost
// less first.
const SpareCost = "1000"

// spare names the pods in use that a scale-down would not spare yet, and those that it
// would spare although nobody uses them any longer.
func (d *decider) spare() (spare, release []string) {
	for _, p := range d.Seen.Pods {
		switch used := d.allocated(p); {
		case used && p.DeletionCost != SpareCost:
			spare = append(spare, p.Name)
		case !used && !p.Ended() && p.DeletionCost == SpareCost:
			release = append(release, p.Name)
		}
	}
	slices.Sort(spare)
	slices.Sort(release)
	return spare, release
}

func isAre(n int) string { return wording.Plural(n, "is", "are") }

func listed(names []string) string { return strings.Join(names, ", ") }
