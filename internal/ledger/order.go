package ledger

import (
	"cmp"
	"slices"
	"strings"
)

// Two records of one pod are joined part by part. Each part has a total order, and the better of
// the two wins. So neither the order of merges, nor their grouping, nor their number makes a
// difference.

// ends are the sources of ends in the order of their ranks; "" is an open interval. Sources up to
// SeenTerminal are final: an exact end is not undone if the pod is listed again. A deletion
// timestamp only says when a pod should have ended. If its node is silent it counts as the end
// until the node reports again.
var ends = []Source{
	"", Rejected, ContainerFinished, DisruptionTarget, NotReady, StatusWritten,
	InstanceEnded, NodeGone, SeenTerminal, DeletionTimestamp, Event, Estimated,
}

// starts are the sources of starts in the order of their ranks; "" is none.
var starts = []Source{"", PodScheduled, StartTime, ContainerStarted, Created}

const (
	openRank = 0
	softRank = 9 // from here on, a later observation can contradict an end
)

func endRank(s Source) int   { return slices.Index(ends, s) }
func startRank(s Source) int { return slices.Index(starts, s) }

// joinEnds returns the better of two ends. Neither order nor grouping makes a difference, and it is
// never before a time until which either knows the pod to have held its GPUs.
//
// Final ends come first, by source, and then the earlier one, so that a time that each run reads
// again keeps its first value. The others are ordered by how long the pod is known to have held its
// GPUs. A better estimate supersedes a worse one, and so does a later observation of the pod: an
// open interval with Earliest. If both know the same, the narrower range wins, which is that of
// both together. Events come before estimates that have no later observation of the pod.
func joinEnds(a, b End) End {
	if compareEnds(b, a) < 0 {
		a, b = b, a
	}
	switch {
	case !a.final():
		return a
	case b.reported(): // then a is, too
		return a.clampTo(b.Earliest)
	}
	return a.clampToRead(b.Earliest)
}

// compareEnds orders ends, the better first.
func compareEnds(a, b End) int {
	ra, rb := endRank(a.Source), endRank(b.Source)
	fa, fb := a.final(), b.final()
	switch {
	case fa != fb:
		return prefer(fa)
	case fa:
		return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(a.At, b.At), cmp.Compare(b.Earliest, a.Earliest))
	}
	if c := cmp.Compare(b.Earliest, a.Earliest); c != 0 {
		return c
	}
	if oa, ob := ra == openRank, rb == openRank; oa != ob {
		return prefer(ob)
	}
	return cmp.Or(cmp.Compare(ra, rb), cmp.Compare(a.At, b.At))
}

func (e End) final() bool { return final(endRank(e.Source)) }

func final(rank int) bool { return rank != openRank && rank < softRank }

// prefer converts whether the first value wins to the result of a comparison.
func prefer(first bool) int {
	if first {
		return -1
	}
	return 1
}

// compareStarts orders starts, the better first: the earlier, then by source. None comes last.
func compareStarts(a, b Start) int {
	if (a.At == 0) != (b.At == 0) {
		return prefer(a.At != 0)
	}
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(startRank(a.Source), startRank(b.Source)))
}

// compareFrozen orders by the first observation. Two runs that observed a pod at the same moment
// are ordered by content.
func compareFrozen(a, b *Record) int {
	return cmp.Or(
		cmp.Compare(a.Seen, b.Seen), strings.Compare(a.Name, b.Name), compareSets(a.Set, b.Set),
		compareOwners(a.Owner, b.Owner),
	)
}

// compareAllocations orders allocations, the one to keep first. The one that the pod's node
// confirms better wins, since nodes get their labels after their first pods. Then the one that is
// reduced less to the node's capacity, since that may grow; then the first observation.
func compareAllocations(a, b *Record) int {
	if a.Allocation == b.Allocation && a.AllocationSeen == b.AllocationSeen {
		return 0
	}
	if c := a.Allocation.compareQuality(b.Allocation); c != 0 {
		return c
	}
	return cmp.Or(cmp.Compare(a.AllocationSeen, b.AllocationSeen), a.Allocation.compare(b.Allocation))
}

// compareQuality orders allocations by how well they are known, the better first.
func (a *Allocation) compareQuality(b *Allocation) int {
	if c := cmp.Or(cmp.Compare(b.Shown, a.Shown), compareBools(a.Capped, b.Capped)); c != 0 || !a.Capped {
		return c
	}
	return b.GPUs().Cmp(a.GPUs())
}

// improves reports whether the allocation replaces a confirmed one.
func (a *Allocation) improves(b *Allocation) bool {
	return a.compareQuality(b) < 0 && compareShares(a.Shares, b.Shares) != 0
}

// comparePlaces orders places, the one to keep first: the more complete one, then the first
// observation.
func comparePlaces(a, b *Record) int {
	if a.Place == b.Place && a.PlaceSeen == b.PlaceSeen {
		return 0
	}
	return cmp.Or(
		cmp.Compare(b.Place.known(), a.Place.known()), cmp.Compare(a.PlaceSeen, b.PlaceSeen), a.Place.compare(b.Place),
	)
}

func (p *Place) texts() [5]string {
	return [5]string{p.Node, p.Model, p.InstanceType, p.InstanceID, p.SpotPool}
}

func (p *Place) known() int {
	known := 0
	for _, text := range p.texts() {
		if text != "" {
			known++
		}
	}
	return known
}

func (p *Place) compare(q *Place) int {
	a, b := p.texts(), q.texts()
	return slices.Compare(a[:], b[:])
}

func compareSets(a, b *LabelSet) int {
	if a == b {
		return 0
	}
	return cmp.Or(
		strings.Compare(a.Namespace, b.Namespace), compareLabels(a.Labels, b.Labels),
		compareLabels(a.NamespaceLabels, b.NamespaceLabels),
	)
}

func compareLabels(a, b Labels) int {
	return slices.CompareFunc(a, b, func(a, b Label) int {
		return cmp.Or(strings.Compare(a.Key, b.Key), strings.Compare(a.Value, b.Value))
	})
}

func compareOwners(a, b *Owner) int {
	switch {
	case a == b:
		return 0
	case a == nil || b == nil:
		return prefer(b == nil)
	}
	x, y := a.texts(), b.texts()
	return slices.Compare(x[:], y[:])
}

func (o *Owner) texts() [4]string { return [4]string{o.UID, o.Name, o.Kind, o.APIVersion} }

func (a *Allocation) compare(b *Allocation) int {
	if a == b {
		return 0
	}
	return cmp.Or(cmp.Compare(b.Shown, a.Shown), compareBools(a.Capped, b.Capped), compareShares(a.Shares, b.Shares), compareShares(a.Earlier, b.Earlier))
}

func compareShares(a, b []Share) int {
	return slices.CompareFunc(a, b, func(a, b Share) int {
		return cmp.Or(
			strings.Compare(a.Resource, b.Resource), a.Units.Cmp(b.Units), a.Weight.Cmp(b.Weight),
			strings.Compare(a.Claim, b.Claim), strings.Compare(a.whole(), b.whole()),
		)
	})
}

// larger returns the shares that come to more GPUs.
func larger(a, b []Share) []Share {
	if cmp.Or(gpusOf(a).Cmp(gpusOf(b)), compareShares(a, b)) < 0 {
		return b
	}
	return a
}

// most returns the most that the pod was confirmed to hold. A later allocation replaces an
// unconfirmed or provisional one for all of the pod's time.
func (a *Allocation) most() []Share {
	if a.Shown < Confirmed {
		return a.Earlier
	}
	return larger(a.Shares, a.Earlier)
}

// withEarlier returns the allocation with what counts before it, if that is more.
func (a *Allocation) withEarlier(shares []Share) *Allocation {
	if compareShares(larger(a.Shares, shares), a.Shares) == 0 {
		shares = nil
	}
	if compareShares(shares, a.Earlier) == 0 {
		return a
	}
	return &Allocation{Shares: a.Shares, Earlier: shares, Shown: a.Shown, Capped: a.Capped}
}

func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	return prefer(b)
}

// join returns the joined record of one pod. If both are equal, it returns the first.
func join(a, b *Record) Record {
	joined := *a
	if compareFrozen(b, a) < 0 {
		joined.Name, joined.Seen, joined.Set, joined.Owner = b.Name, b.Seen, b.Set, b.Owner
	}
	if compareAllocations(b, a) < 0 {
		joined.Allocation, joined.AllocationSeen = b.Allocation, b.AllocationSeen
	}
	if a.Allocation != b.Allocation {
		joined.Allocation = joined.Allocation.withEarlier(larger(a.Allocation.most(), b.Allocation.most()))
		for _, known := range []*Allocation{a.Allocation, b.Allocation} {
			if joined.Allocation.compare(known) == 0 {
				joined.Allocation = known
			}
		}
	}
	if comparePlaces(b, a) < 0 {
		joined.Place, joined.PlaceSeen = b.Place, b.PlaceSeen
	}
	if compareStarts(b.Start, a.Start) < 0 {
		joined.Start = b.Start
	}
	if compareStarts(b.Runs, a.Runs) < 0 {
		joined.Runs = b.Runs
	}
	joined.End = joinEnds(a.End, b.End)
	joined.Deletion = earlier(a.Deletion, b.Deletion)
	return joined
}
