package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// Changes are the steps that bring the documents up to date: the writes in their order, then the
// deletions. After each step the documents contain at least what they contained before. The header
// is written last. Without a stored header it is also written first, so that a missing header means
// that it was removed.
type Changes struct {
	Write  []document.Document
	Delete []string
}

// Changes returns how the ledger differs from the documents that it was loaded from. Load the
// ledger again after you apply the changes. The error says that a document exceeds the size limit
// of a store.
func (l *Ledger) Changes() (Changes, error) {
	l.Header.prune()
	s := saving{Ledger: l, listed: map[string]int{}, deleted: map[string]bool{}}
	recent := s.unfolded()
	shards := s.shards(recent)
	groups := s.recordsOf(shards, recent)
	s.settle(shards)
	for _, of := range slices.SortedFunc(maps.Keys(groups), compareShards) {
		documents, err := s.encodeShard(of, groups[of])
		if err != nil {
			return Changes{}, err
		}
		s.put(documents)
	}
	for _, m := range l.tables() {
		documents, err := m.documents(l.Header.ClusterUID)
		if err != nil {
			return Changes{}, err
		}
		s.put(documents)
	}
	s.changes.Delete = slices.Sorted(maps.Keys(s.deleted))
	return s.changes, s.finish()
}

// saving is the state of one call of Changes.
type saving struct {
	*Ledger
	changes Changes
	listed  map[string]int  // records, by document, for the header
	deleted map[string]bool // documents, unless they are written again
}

// settle decides for each stored document whether to keep it when these shards are rewritten.
func (s *saving) settle(shards map[document.Shard]bool) {
	for name, stored := range s.stored {
		table := s.tableOf(stored.Kind)
		switch {
		case name == document.HeaderName:
		case s.Header.past(stored.Shard), table != nil && table.isChanged():
			s.deleted[name] = true
		case stored.damaged: // kept for the operator as long as the loss counts
			if !slices.ContainsFunc(s.Header.Lost, func(lost Loss) bool { return lost.Document == name }) {
				s.deleted[name] = true
			}
		case !shards[s.shardFor(stored.Shard)]:
			s.listed[name] = stored.intervals
		default:
			s.deleted[name] = true
		}
	}
}

func (s *saving) put(documents []document.Document) {
	for _, d := range documents {
		delete(s.deleted, d.Name)
		s.listed[d.Name] = d.Records
		if d.Sum != s.stored[d.Name].sum {
			s.changes.Write = append(s.changes.Write, d)
		}
	}
}

func (s *saving) finish() error {
	stored, there := s.stored[document.HeaderName]
	if !there && len(s.changes.Write) > 0 {
		first, err := encodeHeader(Header{ClusterUID: s.Header.ClusterUID}, nil)
		if err != nil {
			return err
		}
		s.changes.Write = slices.Insert(s.changes.Write, 0, first)
	}
	header, err := encodeHeader(s.Header, s.listed)
	if err != nil {
		return err
	}
	if header.Sum != stored.sum || len(s.changes.Write) > 0 {
		s.changes.Write = append(s.changes.Write, header)
	}
	return nil
}

// shardOf returns the shard that a bin is written to. A day that already is one document stays one,
// whatever the clock says.
func (s *saving) shardOf(h document.Bin) document.Shard {
	if first := h.Day(); !h.Open() && s.days[first] {
		return document.Shard{Kind: document.Day, First: first}
	}
	return document.ShardOf(h, int64(s.Header.LastRun))
}

// shardFor returns the shard to which a shard's records are written now.
func (s *saving) shardFor(of document.Shard) document.Shard {
	if of.Closed() {
		return s.shardOf(of.First)
	}
	return of
}

// unfolded are the open records that are newer than the documents of their bins, and the closed
// records that those documents still list as open.
type unfolded struct {
	records []Record
	bins    map[document.Bin]bool // of these records, now or before
	// fold says to rewrite the documents of these bins.
	fold bool
}

const (
	// minRecent is how many recent records are always kept; recentPart is the fraction of the open
	// records that may be recent.
	minRecent  = 2048
	recentPart = 8
)

func (s *saving) unfolded() unfolded {
	recent := unfolded{bins: map[document.Bin]bool{}}
	open := 0
	var r Record
	for _, page := range s.pages {
		for n := range page {
			at := &page[n]
			isOpen := at.end == moment{} && !at.dropped
			if isOpen {
				open++
			}
			if isOpen && !at.newer || !isOpen && !at.inOpen {
				continue
			}
			s.read(at, &r)
			recent.bins[document.BinAt(0, r.UID)] = true
			// Retention must not drop a record that another document still lists as open.
			recent.fold = recent.fold || at.dropped
			if !at.dropped {
				recent.records = append(recent.records, r)
			}
		}
	}
	recent.fold = recent.fold || len(recent.records) > max(s.foldAt, open/recentPart)
	return recent
}

// shards returns the shards that may need a write: those of dirty bins, and days that still have
// hourly documents. Recent records add their own shard, or the bins that it is folded into.
func (s *saving) shards(recent unfolded) map[document.Shard]bool {
	shards := map[document.Shard]bool{{Kind: document.Recent}: true}
	if recent.fold {
		for h := range recent.bins {
			shards[s.shardOf(h)] = true
		}
	}
	for h := range s.dirty {
		if of := s.shardOf(h); of.Closed() && !s.Header.past(of) {
			shards[of] = true
		}
	}
	for name, stored := range s.stored {
		if name == document.HeaderName || stored.damaged || s.Header.past(stored.Shard) {
			continue
		}
		if of := s.shardFor(stored.Shard); of != stored.Shard {
			shards[of] = true
		}
	}
	return shards
}

// recordsOf gathers the records of shards: current ones, and those that moved elsewhere but must
// stay in their documents for now.
func (s *saving) recordsOf(shards map[document.Shard]bool, recent unfolded) map[document.Shard][]Record {
	groups := make(map[document.Shard][]Record, len(shards))
	for r := range s.All() {
		if r.Open() && !recent.fold {
			continue
		}
		if of := s.shardOf(binOf(r)); shards[of] {
			groups[of] = append(groups[of], *r)
		}
	}
	for h, records := range s.left {
		if of := s.shardOf(h); shards[of] {
			groups[of] = append(groups[of], records...)
		}
	}
	if !recent.fold && len(recent.records) > 0 {
		groups[document.Shard{Kind: document.Recent}] = recent.records
	}
	return groups
}

func compareShards(a, b document.Shard) int {
	if a.Closed() != b.Closed() {
		return prefer(a.Closed())
	}
	return cmp.Or(cmp.Compare(a.First, b.First), cmp.Compare(a.Kind, b.Kind))
}

// encodeShard encodes a shard in as few documents as fit. It never reuses the name of a lost
// document, so that a backup can be restored.
func (s *saving) encodeShard(of document.Shard, records []Record) ([]document.Document, error) {
	for parts := 1; parts <= document.MaxParts; parts *= 2 {
		if slices.ContainsFunc(s.Header.Lost, func(lost Loss) bool {
			p, known := document.ParsePart(lost.Document)
			return known && p.Shard == of && p.Parts == parts
		}) {
			continue
		}
		documents, err := s.encodeParts(of, records, parts)
		if err != nil || documents != nil {
			return documents, err
		}
	}
	return nil, fmt.Errorf("a record in the ledger's shard %s exceeds the size limit of a store; nothing was changed", of)
}

// encodeParts encodes a shard in the given number of documents. It returns none if one is too
// large.
func (s *saving) encodeParts(of document.Shard, records []Record, parts int) ([]document.Document, error) {
	split := make([][]Record, parts)
	for _, r := range records {
		n := document.PartOf(r.UID, parts) - 1
		split[n] = append(split[n], r)
	}
	var documents []document.Document
	for n, records := range split {
		if len(records) == 0 {
			continue
		}
		d, err := encodeIntervals(document.Part{Shard: of, Number: n + 1, Parts: parts}.String(), s.Header.ClusterUID, records)
		if err != nil {
			return nil, err
		}
		if len(d.Data) > document.MaxSize {
			return nil, nil
		}
		switch err := s.decoder.open(d.Data); { // never write a document that cannot be read
		case errors.Is(err, columns.ErrLarge):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("the ledger's document %s could not be read again, and nothing was changed: %w", d.Name, err)
		}
		documents = append(documents, d)
	}
	return documents, nil
}
