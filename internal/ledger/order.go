package ledger

import (
	"cmp"
	"slices"
	"strings"
)

// Two records of one pod join to what both together say. For each part of a
// record there is a total order of what it can be, and the join takes the better
// of the two: so that it makes no difference in which order records are merged,
// how they are grouped, or how often.

// ends are the sources of ends in the order of their ranks: the place of "" is
// that of an open interval. Up to SeenTerminal they are final: what is no estimate
// is not undone by a pod that is listed once more. A deletion timestamp only says
// when a pod should have ended: where its node is silent that is taken for its
// end, until the node is heard of again.
var ends = []Source{
	"", Rejected, ContainerFinished, DisruptionTarget, NotReady, StatusWritten,
	InstanceEnded, NodeGone, SeenTerminal, DeletionTimestamp, Event, Estimated,
}

// starts are the sources of starts in the order of their ranks; "" is none.
var starts = []Source{"", PodScheduled, StartTime, ContainerStarted, Created}

const (
	openRank = 0
	softRank = 9 // from here on an end can be contradicted by a later look
)

func endRank(s Source) int   { return slices.Index(ends, s) }
func startRank(s Source) int { return slices.Index(starts, s) }

// compareEnds orders ends, the better first.
//
// Final ends come first, by source; of one source the earlier, so that a time
// that each run reads anew stays what it was first. The others are ordered by
// up to when the pod is known to have held: an estimate supersedes one that
// knew less, and so does a look after it that found the pod (an open interval
// with Earliest). Where two know the same, the narrower range wins, which is that
// of both together. Events come before estimates that do not know the pod to have held
// after the event.
func compareEnds(a, b End) int {
	ra, rb := endRank(a.Source), endRank(b.Source)
	fa, fb := final(ra), final(rb)
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

func final(rank int) bool { return rank != openRank && rank < softRank }

// prefer is the answer of a comparison that the first wins, or loses.
func prefer(first bool) int {
	if first {
		return -1
	}
	return 1
}

// compareStarts orders starts, the better first: the earlier, then by source.
// None comes last.
func compareStarts(a, b Start) int {
	if (a.At == 0) != (b.At == 0) {
		return prefer(a.At != 0)
	}
	return cmp.Or(cmp.Compare(a.At, b.At), cmp.Compare(startRank(a.Source), startRank(b.Source)))
}

// compareFrozen orders what is frozen, that to be kept first: as first seen. Two
// runs that saw a pod at the same moment and differ are told apart by content.
func compareFrozen(a, b *Record) int {
	return cmp.Or(
		cmp.Compare(a.Seen, b.Seen), strings.Compare(a.Name, b.Name), compareSets(a.Set, b.Set),
		compareOwners(a.Owner, b.Owner),
	)
}

// compareAllocations orders what is held, that to be kept first: which the pod's node
// bears out better, since nodes get their labels after their first pods; what is
// not lowered to the node's capacity, or less so, since a capacity may grow; then as
// first seen.
func compareAllocations(a, b *Record) int {
	if a.Allocation == b.Allocation && a.AllocationSeen == b.AllocationSeen {
		return 0
	}
	if c := cmp.Compare(b.Allocation.Shown, a.Allocation.Shown); c != 0 {
		return c
	}
	switch {
	case a.Allocation.Capped != b.Allocation.Capped:
		return prefer(b.Allocation.Capped)
	case a.Allocation.Capped:
		if c := b.Allocation.GPUs().Cmp(a.Allocation.GPUs()); c != 0 {
			return c
		}
	}
	return cmp.Or(cmp.Compare(a.AllocationSeen, b.AllocationSeen), a.Allocation.compare(b.Allocation))
}

// comparePlaces orders places, that to be kept first: of which more is known,
// then as first seen.
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
	if c := cmp.Or(cmp.Compare(b.Shown, a.Shown), compareBools(a.Capped, b.Capped)); c != 0 {
		return c
	}
	return slices.CompareFunc(a.Shares, b.Shares, func(a, b Share) int {
		return cmp.Or(
			strings.Compare(a.Resource, b.Resource), a.Units.Cmp(b.Units), a.Weight.Cmp(b.Weight),
			strings.Compare(a.Claim, b.Claim), strings.Compare(a.whole(), b.whole()),
		)
	})
}

// compareBools orders false before true.
func compareBools(a, b bool) int {
	if a == b {
		return 0
	}
	return prefer(b)
}

// join is what two records of one pod say together. Where they say the same, it
// is the first.
func join(a, b *Record) Record {
	joined := *a
	if compareFrozen(b, a) < 0 {
		joined.Name, joined.Seen, joined.Set, joined.Owner = b.Name, b.Seen, b.Set, b.Owner
	}
	if compareAllocations(b, a) < 0 {
		joined.Allocation, joined.AllocationSeen = b.Allocation, b.AllocationSeen
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
	if compareEnds(b.End, a.End) < 0 {
		joined.End = b.End
	}
	joined.Deletion = earlier(a.Deletion, b.Deletion)
	return joined
}
