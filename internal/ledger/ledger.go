package ledger

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"

// Ledger is the records of one cluster, by the UID of the pod, with its nodes and bindings. It is
// not safe for concurrent use.
type Ledger struct {
	Header Header
	loaded Time // Header.LastRun of the documents that it was loaded from
	records
	nodes
	bindings
	saved
	decoder decoder
}

// New returns an empty ledger of a cluster, identified by the UID of its namespace kube-system.
func New(clusterUID string) *Ledger {
	l := &Ledger{Header: Header{ClusterUID: clusterUID}, records: records{shared: newShared()}, saved: newSaved()}
	l.decoder.shared = &l.shared
	l.nodes, l.bindings = newNodes(l), newBindings(l)
	return l
}

// Merge merges a record into its pod's. Merging again changes nothing, and the order of merges
// makes no difference. The error says that the record is invalid and was not merged.
//
// A record that ended before Header.KeptSince is ignored.
func (l *Ledger) Merge(r Record) error {
	if err := r.normalize(); err != nil {
		return err
	}
	l.use(&r)
	number, found := l.find(r.UID, l.hash(r.UID))
	if !found {
		if !l.Header.expired(r.End) {
			l.dirty[binOf(&r)] = true
			l.add(&r)
		}
		return nil
	}
	old := l.record(number)
	if joined := join(&old, &r); joined != old {
		l.replace(number, &old, &joined)
	}
	return nil
}

// Observe merges an observation of a pod at r.Seen. In addition to Merge:
//
//   - it reopens an interval that was closed by an estimate, an Event or a deletion timestamp if the pod still held its GPUs after that
//   - if only this run reports the end, it gives the end the range since the run before (Header.LastRun)
//   - it never moves an end before a known one, or before a run that observed the pod. A container's own end may be ten seconds before such a run.
//   - it keeps a confirmed allocation until a better confirmed one differs
func (l *Ledger) Observe(r Record) error {
	if err := r.normalize(); err != nil {
		return err
	}
	old, known := l.Get(r.UID)
	switch {
	case r.Open():
		if known {
			r.End = contradiction(old.End, r.Seen)
		}
	case known && inferred[r.End.Source]:
		r.End = inferredEnd(l.heldUntil(&old, &r), &old, &r)
	case r.End.Source == SeenTerminal && !r.End.Estimated():
		r.End.Earliest = min(max(l.Header.LastRun, r.Start.At), r.End.At)
	case known:
		r.End = old.End.limit(r.End)
	}
	if known && !r.Open() {
		held := l.heldUntil(&old, &r)
		if old.End.final() {
			r.End = r.End.clampTo(held)
		} else {
			r.End = r.End.clampToRead(held)
		}
		if old.End.final() && endRank(r.End.Source) >= endRank(old.End.Source) {
			r.End = old.End // its first value
		}
	}
	if known && old.Allocation.Shown > 0 && !r.Allocation.improves(old.Allocation) {
		r.Allocation, r.AllocationSeen = old.Allocation, old.AllocationSeen
	}
	return l.Merge(r)
}

// Join merges another ledger of the same cluster. If a run observed a pod that a concurrent one has as
// ended before that, the pod held its GPUs until the later time. The error says that the cluster is another one
// and that nothing was merged.
func (l *Ledger) Join(other *Ledger) error {
	if other.Header.ClusterUID != l.Header.ClusterUID {
		return &document.ClusterError{What: "the other ledger", Is: other.Header.ClusterUID, Want: l.Header.ClusterUID}
	}
	for r := range other.All() {
		mine, known := l.Get(r.UID)
		if err := l.Merge(*r); err != nil {
			return err
		}
		if !known || mine.Open() == r.Open() {
			continue
		}
		observed := l.Header.LastRun // while it was open
		if r.Open() {
			observed = other.Header.LastRun
		}
		if joined, _ := l.Get(r.UID); !joined.Open() && observed > min(l.loaded, other.loaded) {
			joined.End = joined.End.observedUntil(observed)
			if err := l.Merge(joined); err != nil {
				return err
			}
		}
	}
	for _, n := range other.nodes.of {
		if err := l.Remember(n); err != nil {
			return err
		}
	}
	for _, b := range other.bindings.of {
		if err := l.Bind(b); err != nil {
			return err
		}
	}
	l.Header = l.Header.join(other.Header)
	l.Prune(l.Header.KeptSince)
	return nil
}

// day is the unit of retention.
const day Time = 24 * 3_600_000

// Prune drops what ended before a moment, rounded down to a day: the start of the longest window,
// less its grace and the longest gap. Pruning is never undone.
func (l *Ledger) Prune(keep Time) {
	l.Header.KeptSince = max(l.Header.KeptSince, keep-keep%day)
	l.Header.prune()
	l.nodes.prune(l.Header)
	for _, page := range l.pages {
		for n := range page {
			if r := &page[n]; !r.dropped && l.Header.expired(End{At: r.end.time()}) {
				l.drop(r)
			}
		}
	}
}

// replace writes a joined record over an old one, and keeps the old one in its document until
// another document contains it.
func (l *Ledger) replace(number uint32, old, joined *Record) {
	r := l.compact(number)
	from, to := binOf(old), binOf(joined)
	l.dirty[to] = true
	l.leave(r.inClosed, from, to, old)
	r.inClosed, r.newer = r.inClosed && from == to, true
	if joined.Name != old.Name {
		r.call(r.uid(), l.texts.Add(joined.Name))
	}
	l.write(r, joined)
	if l.Header.expired(joined.End) {
		l.drop(r)
	}
}
