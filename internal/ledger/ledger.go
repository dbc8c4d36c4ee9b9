package ledger

import "github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"

// Ledger is the records of one cluster, by the UID of the pod, and what is remembered
// beside them. It is not safe for use by several goroutines at once.
type Ledger struct {
	Header Header
	records
	nodes
	bindings
	saved
	decoder decoder
}

// New returns an empty ledger of a cluster, by the UID of its namespace
// kube-system.
func New(clusterUID string) *Ledger {
	l := &Ledger{Header: Header{ClusterUID: clusterUID}, records: records{shared: newShared()}, saved: newSaved()}
	l.decoder.shared = &l.shared
	l.nodes, l.bindings = newNodes(l), newBindings(l)
	return l
}

// Merge adds what a record says to what the ledger knows of its pod. Merging
// again changes nothing, and the order of merges makes no difference. The error
// says that the record cannot be one; it was then not merged.
//
// A record that ended before Header.KeptSince is not taken up.
func (l *Ledger) Merge(r Record) error {
	if err := r.normalise(); err != nil {
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

// Observe merges what a run saw of a pod, at r.Seen. Beyond what Merge does, it
// opens again what was closed by an estimate, an Event or a deletion timestamp,
// where the pod was seen to hold after that; an end of which only the first run to
// see it tells gets the range since the run before (Header.LastRun); and one that
// is inferred does not lie before a run that saw the pod hold.
func (l *Ledger) Observe(r Record) error {
	switch old, known := l.Get(r.UID); {
	case r.Open() && known:
		r.End = contradiction(old.End, r.Seen)
	case known && r.End.Source == Rejected && old.Runs.At == 0:
		// Nothing of it ever ran: it held nothing, whenever it was refused.
	case known && inferred[r.End.Source]:
		r.End = afterHeld(l.Header.LastRun, &old, &r)
	case r.End.Source == SeenTerminal && !r.End.Estimated():
		r.End.Earliest = min(max(l.Header.LastRun, r.Start.At), r.End.At)
	case known:
		r.End = old.End.limit(r.End)
	}
	return l.Merge(r)
}

// Join merges all that another ledger of the same cluster knows. The error says
// that it is another cluster's; nothing was then merged.
func (l *Ledger) Join(other *Ledger) error {
	if other.Header.ClusterUID != l.Header.ClusterUID {
		return &document.ClusterError{What: "the other ledger", Is: other.Header.ClusterUID, Want: l.Header.ClusterUID}
	}
	for r := range other.All() {
		if err := l.Merge(*r); err != nil {
			return err
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

// day is what retention is rounded down to.
const day Time = 24 * 3_600_000

// Prune drops what ended before a moment, rounded down to a day: the beginning
// of the longest window, less its grace and the longest gap. It never takes a
// prune back.
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

// replace puts a joined record in the place of an old one, and sees to it that
// no document loses it before another has it.
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
