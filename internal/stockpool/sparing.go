package stockpool

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

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

// rank orders a pool's pods as a ReplicaSet does that has too many: those of a lower rank
// end first. What a pod costs comes last: it tells only pods apart that are alike in the
// rest (Less of ActivePodsWithRanks in pkg/controller/controller_utils.go of Kubernetes).
type rank [4]int

// rank is that of a pod once those in use are marked, and no others.
func (d *decider) rank(p Pod) (r rank) {
	if p.Node != "" {
		r[0] = 1
	}
	r[1] = map[string]int{"Pending": 0, "Unknown": 1, "Running": 2}[p.Phase]
	if p.Ready {
		r[2] = 1
	}
	cost := p.DeletionCost
	switch used := d.allocated(p); {
	case used:
		cost = SpareCost
	case cost == SpareCost:
		cost = ""
	}
	if n, err := strconv.ParseInt(cost, 10, 32); err == nil {
		r[3] = int(n)
	}
	return r
}

func (r rank) compare(other rank) int { return slices.Compare(r[:], other[:]) }

// fewest is how many pods a scale-down has to leave so that none in use ends, and why it
// is more than those.
func (d *decider) fewest() (least int, why string) {
	var used, idle []Pod
	for _, p := range d.Seen.Pods {
		switch {
		case d.allocated(p):
			used = append(used, p)
		case !p.Ended():
			idle = append(idle, p)
		}
	}
	if len(used) == 0 || len(idle) == 0 {
		return len(used), ""
	}
	if of := d.Seen.Deployment; of.Status.Replicas > of.Status.UpdatedReplicas {
		return len(used) + len(idle), "a rollout is under way, and a scale-down in its middle ends old pods and new ones, those in use as well"
	}
	byRank := func(a, b Pod) int { return d.rank(a).compare(d.rank(b)) }
	first, last := d.rank(slices.MinFunc(used, byRank)), d.rank(slices.MaxFunc(idle, byRank))
	var early []string
	for _, p := range used {
		if d.rank(p).compare(last) <= 0 {
			early = append(early, p.Name)
		}
	}
	least = len(used)
	for _, p := range idle {
		if d.rank(p).compare(first) >= 0 {
			least++
		}
	}
	if least == len(used) {
		return least, ""
	}
	slices.Sort(early)
	return least, fmt.Sprintf("%d in use would end before others that nobody uses, since a ReplicaSet ends first what has no node, does not run, is not "+
		"ready or costs less to delete (%s)", len(early), wording.Some(early))
}

// sparing is how many pods a scale-down leaves. One that nobody declared, since pods were
// given back, waits where it would end others that are in use; the maximum stays. A new
// Deployment has adopted the pods of a deleted one before anything is applied to it.
func (d *decider) sparing(to, has int) int {
	if d.Declaration.Keep == KeepAvailable && d.Journal.Applied == "" && d.own() && d.Seen.Deployment.Annotations[AnnotationOpened] != "" {
		return max(to, min(has, d.Declaration.Maximum))
	}
	if d.Declaration.Keep != KeepAvailable || to >= has || d.Journal.Applied == "" || d.Journal.Generation != d.Declaration.Generation {
		return to
	}
	least, why := d.fewest()
	stay := max(to, min(least, has, d.Declaration.Maximum))
	if stay > to {
		d.kept = fmt.Sprintf("%d pods would do, and %d stay: %s", to, stay, why)
		d.warn("%s", d.kept)
	}
	return stay
}
