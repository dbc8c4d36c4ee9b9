package ledger

import (
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
)

// Problem is a document that could not be read, and what that means.
type Problem struct {
	Document string
	// Err is *DamagedError where there is one that cannot be read; else it is
	// missing, or no document of a ledger.
	Err error
	// Loss is what was lost; nil where nothing was.
	Loss *Loss
}

// Error says what is lost, and what to do.
func (p Problem) Error() string {
	if p.Loss == nil {
		return p.Err.Error()
	}
	what := "the intervals"
	switch {
	case p.Loss.Intervals == 1:
		what = "the interval"
	case p.Loss.Intervals > 1:
		what = fmt.Sprintf("the %d intervals", p.Loss.Intervals)
	}
	form := func(t Time) string { return time.UnixMilli(int64(t)).UTC().Format(time.RFC3339) }
	return fmt.Sprintf("%v; what it held, %s that ended between %s and %s, is not counted until then", p.Err, what, form(p.Loss.From), form(p.Loss.To))
}

// Unwrap returns what is wrong with the document.
func (p Problem) Unwrap() error { return p.Err }

// storedDocument is a document that the ledger was loaded from.
type storedDocument struct {
	part
	sum       string // its checksum
	intervals int
	damaged   bool
}

// Load reads a ledger from its documents: by their names without the cluster's
// UID, such as "header" and "closed-2026-11-20". Without any it is a new one.
//
// A shard that is damaged or missing is a problem, and a Loss in the header: the
// rest is read. A copy that is put back undoes the loss. The header may be missing
// as well: what was observed then begins anew.
//
// The error is *NewerError, *ClusterError, or *DamagedError for the header:
// nothing may be written then.
func Load(clusterUID string, documents map[string][]byte, now Time) (*Ledger, []Problem, error) {
	l := New(clusterUID)
	var problems []Problem
	opened := make([]sealed, 0, len(documents))
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		s, err := unseal(name, clusterUID, documents[name])
		var damage *DamagedError
		switch {
		case errors.As(err, &damage) && name != headerName:
			problems = append(problems, Problem{Document: name, Err: err})
		case err != nil:
			return nil, nil, err
		default:
			opened = append(opened, s)
		}
	}
	listed, err := l.loadHeader(opened)
	if err != nil {
		return nil, nil, err
	}
	_, hasHeader := documents[headerName]
	if !hasHeader && len(documents) > 0 {
		problems = append(problems, Problem{Document: headerName, Err: errors.New("the ledger's header is missing: restore it from a copy; without it the " +
			"intervals stay, but pods that ended since are charged by estimate, from their start until this run, and what is covered begins anew")})
	}
	records := 0
	for _, n := range listed {
		records += min(max(n, 0), columns.MaxValues)
	}
	l.uids.reserve(min(records, totalLength(documents)))
	for _, s := range opened {
		if s.name == headerName {
			continue
		}
		if err := l.loadShard(s); err != nil {
			problems = append(problems, Problem{Document: s.name, Err: err})
		}
	}
	l.bindRecords()
	for _, name := range slices.Sorted(maps.Keys(listed)) {
		p, known := parsePart(name)
		if _, there := documents[name]; !there && known && !l.past(p.shard) {
			problems = append(problems, Problem{Document: name, Err: fmt.Errorf("the ledger's document %s is missing: restore it from a copy", name)})
		}
	}
	for n := range problems {
		l.lose(&problems[n], listed, now)
	}
	l.decoder = decoder{shared: &l.shared}
	return l, problems, nil
}

func totalLength(documents map[string][]byte) int {
	length := 0
	for _, data := range documents {
		length += len(data)
	}
	return length
}

// loadHeader reads the header, and returns what it lists.
func (l *Ledger) loadHeader(opened []sealed) (map[string]int, error) {
	for _, s := range opened {
		if s.name != headerName {
			continue
		}
		header, listed, err := decodeHeader(l.Header.ClusterUID, s)
		if err != nil {
			return nil, err
		}
		l.Header = header
		l.stored[headerName] = storedDocument{sum: s.sum}
		return listed, nil
	}
	return nil, nil
}

// past says whether retention has dropped all that a shard may hold.
func (l *Ledger) past(s shard) bool {
	_, to := s.span()
	return s.closed() && to <= l.Header.KeptSince
}

// loadShard takes up the records of a document. Where the error says that it is
// damaged, it took none.
func (l *Ledger) loadShard(s sealed) error {
	p, known := parsePart(s.name)
	if !known {
		return &DamagedError{Document: s.name, Reason: "no document of a ledger has such a name"}
	}
	if l.past(p.shard) { // a run was cut short before it removed this
		l.keep(s.name, storedDocument{part: p, sum: s.sum})
		return nil
	}
	if m := l.tableOf(p.kind); m != nil {
		return m.load(l, p, s)
	}
	d := &l.decoder
	if err := d.decode(s.data); err != nil {
		return &DamagedError{Document: s.name, Reason: err.Error()}
	}
	l.keep(s.name, storedDocument{part: p, sum: s.sum, intervals: len(d.records)})
	l.Header.Lost = slices.DeleteFunc(l.Header.Lost, func(loss Loss) bool { return loss.Document == s.name })
	for n, r := range d.records {
		if !l.expired(End{At: r.end.time()}) {
			l.take(p.shard, r, d.Columns[uidColumn].Plain(n), d.Columns[nameColumn].Plain(n))
		}
	}
	return nil
}

// keep remembers a document that is there.
func (l *Ledger) keep(name string, d storedDocument) {
	l.stored[name] = d
	if d.kind == dayShard {
		l.days[d.first] = true
	}
}

// take takes up a record as a document says it.
func (l *Ledger) take(from shard, r compact, uid, name []byte) {
	at := binAt(r.end.time(), uid)
	r.inClosed = from.closed() && from.holds(at)
	r.inOpen = from.kind == openShard
	r.newer = !r.inOpen
	hash := maphash.Bytes(l.shared.seed, uid)
	number, found := l.uids.find(hash, func(n uint32) bool {
		known := l.compact(n)
		return !known.dropped && l.texts.get(known.uid()) == string(uid)
	})
	if found {
		r.call(l.compact(number).uid(), l.texts.addBytes(name))
		l.takeAgain(number, r, at)
		return
	}
	if !r.inClosed {
		l.dirty[at] = true
	}
	r.call(l.texts.addBytes(uid), l.texts.addBytes(name))
	l.append(r, hash)
}

// takeAgain takes up what a further document says of a pod. Closed documents
// remain as they are until one of them, or of the others, says all that is known.
func (l *Ledger) takeAgain(number uint32, next compact, at bin) {
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
		l.leave(before.inClosed, was, to, old)
		l.leave(next.inClosed, at, to, further)
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

// leave keeps what a document says of a pod whose record belongs elsewhere.
func (l *Ledger) leave(kept bool, from, to bin, said Record) {
	if kept && from != to {
		l.left[from] = append(l.left[from], said)
	}
}

// lose notes in the header what a problem lost.
func (l *Ledger) lose(problem *Problem, listed map[string]int, now Time) {
	p, valid := parsePart(problem.Document)
	if !valid {
		return
	}
	var damage *DamagedError
	if errors.As(problem.Err, &damage) {
		l.keep(problem.Document, storedDocument{part: p, damaged: true})
	}
	if m := l.tableOf(p.kind); m != nil {
		problem.Err = m.forgetful(problem.Err)
		l.wantList()
		return
	}
	loss := Loss{Document: problem.Document, Intervals: max(0, listed[problem.Document]), Reason: problem.Err.Error()}
	if loss.From, loss.To = p.span(); !p.closed() {
		// Pods that still run are listed again; only what ended since is lost.
		// The header knows the cluster's clock, and now may be of another.
		loss.From, loss.To = min(l.Header.LastRun, now), max(l.Header.LastRun, now)
	}
	known := false
	for _, before := range l.Header.Lost {
		if before.Document == loss.Document {
			loss, known = before, true
		}
	}
	if !known && !p.closed() {
		l.wantList()
	}
	problem.Loss = &loss
	l.Header.Lost = mergeLosses(append(l.Header.Lost, loss))
}

// wantList makes the next run list all pods: no watch reports a pod again that it
// reported before its document was lost.
func (l *Ledger) wantList() { l.Header.LastListed = 0 }
