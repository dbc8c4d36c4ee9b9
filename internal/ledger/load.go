package ledger

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Problem is a document that could not be read, and its consequences.
type Problem struct {
	Document string
	// Err is *document.DamagedError if the document exists but cannot be read. Otherwise the
	// document is missing or does not belong to a ledger.
	Err error
	// Loss is what was lost; nil if nothing was.
	Loss *Loss
}

// Because returns what was lost and how to recover it.
func (p Problem) Because() reason.Reason {
	why, at := reason.Explain(p.Err), func(t Time) reason.Instant { return reason.Instant{Time: time.UnixMilli(int64(t)).UTC()} }
	switch {
	case p.Loss == nil:
		return why
	case p.Loss.Intervals > 0:
		return reason.LedgerPartLost(why, reason.Count(p.Loss.Intervals), at(p.Loss.From), at(p.Loss.To))
	}
	return reason.LedgerSpanLost(why, at(p.Loss.From), at(p.Loss.To))
}

// Error is Because as text.
func (p Problem) Error() string { return p.Because().String() }

// Unwrap returns the cause.
func (p Problem) Unwrap() error { return p.Err }

// Load reads a ledger from its documents by their names without the cluster's UID, such as "header"
// and "closed-2026-11-20". Without documents it returns a new ledger.
//
// A damaged or missing shard is a problem and a Loss in the header; Load reads the rest. Restoring
// a backup of it undoes the loss. If the header is missing, coverage starts again.
//
// The error is *document.NewerError, *document.OlderError, *document.ClusterError, or
// *document.DamagedError for the header: do not write anything then.
func Load(clusterUID string, documents map[string][]byte, now Time) (*Ledger, []Problem, error) {
	l := loading{Ledger: New(clusterUID)}
	opened := make([]document.Document, 0, len(documents))
	length := 0
	_, hasHeader := documents[document.HeaderName]
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		d, err := document.Unseal(name, clusterUID, documents[name])
		var damage *document.DamagedError
		var older *document.OlderError
		switch {
		case errors.As(err, &damage) && name != document.HeaderName:
			l.problem(name, err)
		case errors.As(err, &older) && name != document.HeaderName && hasHeader: // an older header is reported itself
			l.problem(name, &document.DamagedError{Document: name, Reason: fmt.Sprintf("its format version %d is not that of the header", older.Version)})
		case err != nil:
			return nil, nil, err
		default:
			opened = append(opened, d)
		}
		length += len(documents[name])
	}
	if err := l.header(opened); err != nil {
		return nil, nil, err
	}
	if !hasHeader && len(documents) > 0 {
		l.problem(document.HeaderName, errors.New("the ledger's header is missing: restore it from a copy. Without it, the intervals "+
			"stay, coverage starts again, and pods that ended since are charged by estimate, from their start until this run"))
	}
	count := 0
	for _, n := range l.listed {
		count += min(max(n, 0), columns.MaxValues)
	}
	l.uids.Reserve(min(count, length))
	for _, d := range opened {
		if d.Name == document.HeaderName {
			continue
		}
		if err := l.shard(d); err != nil {
			l.problem(d.Name, err)
		}
	}
	l.useBindings()
	for _, name := range slices.Sorted(maps.Keys(l.listed)) {
		p, known := document.ParsePart(name)
		if _, there := documents[name]; !there && known && !l.Header.past(p.Shard) {
			l.problem(name, &reason.Error{Reason: reason.LedgerMissing(reason.NewForeign(name))})
		}
	}
	for n := range l.problems {
		l.recordLoss(&l.problems[n], now)
	}
	l.decoder = decoder{shared: &l.shared}
	return l.Ledger, l.problems, nil
}

// loading is the state of one call of Load.
type loading struct {
	*Ledger
	listed   map[string]int // number of records by document, from the header
	problems []Problem
}

func (l *loading) problem(name string, err error) {
	l.problems = append(l.problems, Problem{Document: name, Err: err})
}

func (l *loading) header(opened []document.Document) (err error) {
	for _, d := range opened {
		if d.Name == document.HeaderName {
			l.stored[d.Name] = storedDocument{sum: d.Sum}
			l.Header, l.listed, err = decodeHeader(l.Header.ClusterUID, d)
			l.loaded = l.Header.LastRun
		}
	}
	return err
}

// shard adds the records of a document. It adds none if it returns an error.
func (l *loading) shard(s document.Document) error {
	p, known := document.ParsePart(s.Name)
	if !known {
		return &document.DamagedError{Document: s.Name, Reason: "invalid name of a document of a ledger"}
	}
	if l.Header.past(p.Shard) { // a run was interrupted before it removed this
		l.keep(s.Name, storedDocument{Part: p, sum: s.Sum})
		return nil
	}
	if m := l.tableOf(p.Kind); m != nil {
		return m.load(&l.saved, p, s)
	}
	d := &l.decoder
	if err := d.decode(s.Data); err != nil {
		return &document.DamagedError{Document: s.Name, Reason: err.Error()}
	}
	l.keep(s.Name, storedDocument{Part: p, sum: s.Sum, intervals: len(d.records)})
	l.Header.Lost = slices.DeleteFunc(l.Header.Lost, func(loss Loss) bool { return loss.Document == s.Name })
	for n, r := range d.records {
		if !l.Header.expired(End{At: r.end.time()}) {
			l.addRecord(p.Shard, r, d.Columns[uidColumn].Plain(n), d.Columns[nameColumn].Plain(n))
		}
	}
	return nil
}

// addRecord adds a record of a document.
func (l *loading) addRecord(from document.Shard, r compact, uid, name []byte) {
	at := document.BinAt(int64(r.end.time()), uid)
	r.inClosed = from.Closed() && from.Holds(at)
	r.inOpen = from.Kind == document.Open
	r.newer = !r.inOpen
	hash := maphash.Bytes(l.shared.seed, uid)
	number, found := l.uids.Find(hash, func(n uint32) bool {
		known := l.compact(n)
		return !known.dropped && l.texts.Get(known.uid()) == string(uid)
	})
	if found {
		r.call(l.compact(number).uid(), l.texts.AddBytes(name))
		l.mergeRecord(number, r, at)
		return
	}
	if !r.inClosed {
		l.dirty[at] = true
	}
	r.call(l.texts.AddBytes(uid), l.texts.AddBytes(name))
	l.append(r, hash)
}

// mergeRecord merges a further document's record of a pod. Closed documents stay as they are until
// one document contains the merged record.
func (l *loading) mergeRecord(number uint32, next compact, at document.Bin) {
	before := l.compact(number)
	old := l.record(number)
	was := binOf(&old)
	var further Record
	l.read(&next, &further)
	joined := join(&old, &further)
	to := binOf(&joined)
	merged := *before
	switch joined {
	case old:
		if next.inClosed && at != to {
			l.dirty[at] = true
		}
	case further:
		if before.inClosed && was != to || !next.inClosed {
			l.dirty[was], l.dirty[to] = true, true
		}
		merged = next
	default:
		l.dirty[to] = true
		l.leave(before.inClosed, was, to, &old)
		l.leave(next.inClosed, at, to, &further)
		l.write(&merged, &joined)
		if joined.Name != old.Name {
			merged.call(merged.uid(), next.name())
		}
	}
	merged.inClosed = before.inClosed && was == to || next.inClosed && at == to
	merged.inOpen = before.inOpen || next.inOpen
	merged.newer = !(before.inOpen && !before.newer && joined == old || next.inOpen && joined == further)
	*before = merged
}

// lose records a problem's loss in the header.
func (l *loading) recordLoss(problem *Problem, now Time) {
	p, valid := document.ParsePart(problem.Document)
	if !valid {
		return
	}
	var damage *document.DamagedError
	if errors.As(problem.Err, &damage) {
		l.keep(problem.Document, storedDocument{Part: p, damaged: true})
	}
	if m := l.tableOf(p.Kind); m != nil {
		problem.Err = m.unreadable(problem.Err)
		l.wantList()
		return
	}
	loss := Loss{Document: problem.Document, Intervals: max(0, l.listed[problem.Document]), Reason: problem.Err.Error()}
	from, to := p.Span()
	if loss.From, loss.To = Time(from), Time(to); !p.Closed() {
		// Pods that still run are listed again; only intervals that ended since are lost. The
		// header has the cluster's clock; now may be another clock.
		loss.From, loss.To = min(l.Header.LastRun, now), max(l.Header.LastRun, now)
	}
	known := false
	for _, before := range l.Header.Lost {
		if before.Document == loss.Document {
			loss, known = before, true
		}
	}
	if !known && !p.Closed() {
		l.wantList()
	}
	problem.Loss = &loss
	l.Header.Lost = mergeLosses(append(l.Header.Lost, loss))
}

// wantList makes the next run list all pods: a watch does not repeat what it reported before a
// document was lost.
func (l *loading) wantList() { l.Header.LastListed = 0 }

// useBindings drops bindings of pods that have records in other documents: a run was interrupted
// before it removed them.
func (l *loading) useBindings() {
	for _, b := range slices.Collect(maps.Values(l.bindings.of)) {
		r, recorded := l.Get(b.UID)
		if !recorded {
			continue
		}
		if err := l.Merge(r); err != nil {
			l.Unbind(b.UID) // cannot fail: the record was merged before
		}
	}
}
