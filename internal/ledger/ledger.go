package ledger

import (
	"hash/maphash"
	"iter"
)

// Ledger is the records of one cluster, by the UID of the pod. It is not safe
// for use by several goroutines at once.
type Ledger struct {
	Header Header

	pages  [][]compact
	length int // records, those that were dropped included
	count  int // records
	texts  texts
	uids   index
	shared shared

	nodes    table[Node]
	bindings table[Binding] // pods that are bound and have no record

	// dirty are the closed bins whose documents may not say what the ledger does.
	dirty map[bin]bool
	// left are records as documents still say them, by the closed bin that they left:
	// these documents keep them until the new bin is written.
	left map[bin][]Record
	// stored are the documents that the ledger was loaded from, by name.
	stored map[string]storedDocument
	days   map[bin]bool // of which there are documents by the day, by their first hours
	// foldAt is how many recent records are kept in any case.
	foldAt int

	decoder decoder
}

// New returns an empty ledger of a cluster, by the UID of its namespace
// kube-system.
func New(clusterUID string) *Ledger {
	l := &Ledger{
		Header: Header{ClusterUID: clusterUID}, shared: newShared(),
		dirty: map[bin]bool{}, left: map[bin][]Record{}, stored: map[string]storedDocument{}, days: map[bin]bool{}, foldAt: minRecent,
	}
	l.decoder.shared = &l.shared
	l.nodes, l.bindings = l.newNodes(), l.newBindings()
	return l
}

// Len is how many records there are.
func (l *Ledger) Len() int { return l.count }

// All yields every record, in no particular order. A record is valid until the
// next one is yielded: who keeps it copies it. The ledger must not change while
// they are yielded.
func (l *Ledger) All() iter.Seq[*Record] {
	return func(yield func(*Record) bool) {
		var r Record
		for _, page := range l.pages {
			for n := range page {
				if page[n].dropped {
					continue
				}
				l.read(&page[n], &r)
				if !yield(&r) {
					return
				}
			}
		}
	}
}

// Get returns the record of a pod.
func (l *Ledger) Get(uid string) (Record, bool) {
	number, found := l.find(uid, l.hash(uid))
	if !found {
		return Record{}, false
	}
	return l.record(number), true
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
	l.bind(&r)
	number, found := l.find(r.UID, l.hash(r.UID))
	if !found {
		if !l.expired(r.End) {
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
		r.End = l.afterHeld(&old, &r)
	case r.End.Source == SeenTerminal && !r.End.Estimated():
		r.End.Earliest = min(max(l.Header.LastRun, r.Start.At), r.End.At)
	case known:
		r.End = old.End.limit(r.End)
	}
	return l.Merge(r)
}

// provenEnd are the sources of ends that the API server's own clock tells: a pod
// had ended by then, whatever the clock of its node tells later.
var provenEnd = map[Source]bool{StatusWritten: true, SeenTerminal: true}

// limit is what is told of an end where another was known before: no later than
// that, where it is proven.
func (e End) limit(told End) End {
	if provenEnd[e.Source] && !told.Open() {
		told.At = min(told.At, e.At)
		told.Earliest = min(told.Earliest, told.At)
	}
	return told
}

// inferred are the sources of ends that tell when a pod should have ended, or
// began to, rather than when it did. Of a pod that was refused after it ran, as
// when its node restarted, none may tell when that was: it is said to have ended
// where it started.
var inferred = map[Source]bool{Rejected: true, DisruptionTarget: true, NotReady: true, DeletionTimestamp: true, StatusWritten: true}

// afterHeld is what an inferred end says of a pod that is known. What was charged
// already up to the last run that saw it hold is not taken back.
func (l *Ledger) afterHeld(old, seen *Record) End {
	if !old.Open() {
		if seen.End.At < old.End.Earliest || old.End.Estimated() && seen.End.At > old.End.At {
			return End{} // what is known stands
		}
		return old.End.limit(seen.End)
	}
	held := min(max(l.Header.LastRun, old.End.Earliest), seen.Seen)
	if seen.End.At >= held {
		return seen.End
	}
	return End{Earliest: held, At: seen.Seen, Source: Estimated}
}

// contradiction is what it says of an end that the pod held at a moment.
func contradiction(end End, seen Time) End {
	switch {
	case end.Open() || final(endRank(end.Source)) || seen <= end.Earliest:
		return End{}
	case seen < end.At:
		return End{Earliest: seen, At: end.At, Source: end.Source}
	}
	return End{Earliest: seen}
}

// Join merges all that another ledger of the same cluster knows. The error says
// that it is another cluster's; nothing was then merged.
func (l *Ledger) Join(other *Ledger) error {
	if other.Header.ClusterUID != l.Header.ClusterUID {
		return &ClusterError{What: "the other ledger", Is: other.Header.ClusterUID, Want: l.Header.ClusterUID}
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

// Prune drops what ended before a moment, rounded down to a day: the beginning
// of the longest window, less its grace and the longest gap. It never takes a
// prune back.
func (l *Ledger) Prune(keep Time) {
	l.Header.KeptSince = max(l.Header.KeptSince, keep-keep%day)
	l.Header.prune()
	l.pruneNodes()
	for _, page := range l.pages {
		for n := range page {
			if r := &page[n]; !r.dropped && l.expired(End{At: r.end.time()}) {
				l.drop(r)
			}
		}
	}
}

func (l *Ledger) expired(e End) bool { return !e.Open() && e.At < l.Header.KeptSince }

func (l *Ledger) drop(r *compact) {
	r.dropped = true
	l.count--
}

func (l *Ledger) hash(uid string) uint64 { return maphash.String(l.shared.seed, uid) }

func (l *Ledger) compact(number uint32) *compact {
	return &l.pages[number/pageLength][number%pageLength]
}

func (l *Ledger) find(uid string, hash uint64) (uint32, bool) {
	return l.uids.find(hash, func(number uint32) bool {
		r := l.compact(number)
		return !r.dropped && l.texts.get(r.uid()) == uid
	})
}

func (l *Ledger) record(number uint32) (r Record) {
	l.read(l.compact(number), &r)
	return r
}

// add takes up a record of a pod that is not known.
func (l *Ledger) add(r *Record) {
	made := compact{newer: true}
	made.call(l.texts.add(r.UID), l.texts.add(r.Name))
	l.write(&made, r)
	l.append(made, l.hash(r.UID))
}

func (l *Ledger) append(r compact, hash uint64) {
	if l.length%pageLength == 0 {
		l.pages = append(l.pages, make([]compact, 0, pageLength))
	}
	last := &l.pages[len(l.pages)-1]
	*last = append(*last, r)
	l.uids.add(hash, uint32(l.length))
	l.length++
	l.count++
}

// replace puts a joined record in the place of an old one, and sees to it that
// no document loses it before another has it.
func (l *Ledger) replace(number uint32, old, joined *Record) {
	r := l.compact(number)
	from, to := binOf(old), binOf(joined)
	l.dirty[to] = true
	if from != to && r.inClosed {
		l.left[from] = append(l.left[from], *old)
	}
	r.inClosed, r.newer = r.inClosed && from == to, true
	if joined.Name != old.Name {
		r.call(r.uid(), l.texts.add(joined.Name))
	}
	l.write(r, joined)
	if l.expired(joined.End) {
		l.drop(r)
	}
}
