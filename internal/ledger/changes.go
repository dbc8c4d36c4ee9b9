package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
)

// Document is one document of the ledger, by its name without the cluster's UID.
type Document struct {
	Name string
	Data []byte // at most 900 KiB
}

// Changes are what is to be done so that the documents say what the ledger does:
// the writes in their order, then the deletions. After each of these steps the
// documents hold at least what they held before. The last write is the header's;
// where there is none yet, the first is too, so that one that is missing was
// removed.
type Changes struct {
	Write  []Document
	Delete []string
}

// Changes says what differs from the documents that the ledger was loaded from.
// Who made the changes, and goes on, loads the ledger afresh. The error says
// that a document cannot be made as small as a store takes it.
func (l *Ledger) Changes() (Changes, error) {
	l.Header.prune()
	recent := l.unfolded()
	shards := l.changedShards(recent)
	groups := l.recordsOf(shards, recent)
	var changes Changes
	listed := map[string]int{}
	deleted := map[string]bool{}
	for name, stored := range l.stored {
		switch {
		case name == headerName:
		case l.past(stored.shard), l.tableChanged(stored.kind):
			deleted[name] = true // unless it is among the documents below
		case stored.damaged: // left for a person, as long as the loss counts
			deleted[name] = !slices.ContainsFunc(l.Header.Lost, func(lost Loss) bool { return lost.Document == name })
		case !shards[l.shardFor(stored.shard)]:
			listed[name] = stored.intervals
		default:
			deleted[name] = true // unless it is among the documents below
		}
	}
	for _, s := range slices.SortedFunc(maps.Keys(groups), compareShards) {
		documents, err := l.encodeShard(s, groups[s])
		if err != nil {
			return Changes{}, err
		}
		l.put(documents, &changes, listed, deleted)
	}
	for _, m := range l.tables() {
		documents, err := m.documents(l)
		if err != nil {
			return Changes{}, err
		}
		l.put(documents, &changes, listed, deleted)
	}
	maps.DeleteFunc(deleted, func(_ string, yes bool) bool { return !yes })
	changes.Delete = slices.Sorted(maps.Keys(deleted))
	return changes, l.headerChanges(&changes, listed)
}

// put adds documents to the changes.
func (l *Ledger) put(documents []made, changes *Changes, listed map[string]int, deleted map[string]bool) {
	for _, document := range documents {
		delete(deleted, document.Name)
		listed[document.Name] = document.records
		if document.sum != l.stored[document.Name].sum {
			changes.Write = append(changes.Write, document.Document)
		}
	}
}

// headerChanges adds the header to the changes.
func (l *Ledger) headerChanges(changes *Changes, listed map[string]int) error {
	stored, there := l.stored[headerName]
	if !there && len(changes.Write) > 0 {
		first, err := l.header(Header{ClusterUID: l.Header.ClusterUID}, nil)
		if err != nil {
			return err
		}
		changes.Write = slices.Insert(changes.Write, 0, first.Document)
	}
	header, err := l.header(l.Header, listed)
	if err != nil {
		return err
	}
	if header.sum != stored.sum || len(changes.Write) > 0 {
		changes.Write = append(changes.Write, header.Document)
	}
	return nil
}

// made is a document with its checksum and how many records it has.
type made struct {
	Document
	sum     string
	records int
}

func (l *Ledger) header(h Header, listed map[string]int) (made, error) {
	m, err := l.sealJSON(headerName, func(seal string) any { return h.body(listed, seal) })
	if err == nil && len(m.Data) > maxDocument {
		err = errors.New("the ledger's header is larger than a store takes; nothing was changed")
	}
	return m, err
}

// shardOf is where a bin is written. A day that is one document already stays
// one, whatever the clock says.
func (l *Ledger) shardOf(h bin) shard {
	if first := h - h%24; !h.open() && l.days[first] {
		return shard{kind: dayShard, first: first}
	}
	return shardOf(h, l.Header.LastRun)
}

// shardFor is where what a shard holds is written now.
func (l *Ledger) shardFor(s shard) shard {
	if s.closed() {
		return l.shardOf(s.first)
	}
	return s
}

// unfolded is what documents of open bins do not say yet: open records that are
// newer than these, and that others are closed.
type unfolded struct {
	records []Record
	bins    map[bin]bool // that these are, or were, in
	// fold says that the documents of these bins are to be rewritten.
	fold bool
}

const (
	// minRecent is how many recent records are kept in any case, and recentPart
	// which part of the open records.
	minRecent  = 2048
	recentPart = 8
)

func (l *Ledger) unfolded() unfolded {
	recent := unfolded{bins: map[bin]bool{}}
	open := 0
	var r Record
	for _, page := range l.pages {
		for n := range page {
			at := &page[n]
			isOpen := at.end == moment{} && !at.dropped
			if isOpen {
				open++
			}
			if isOpen && !at.newer || !isOpen && !at.inOpen {
				continue
			}
			l.read(at, &r)
			recent.bins[binAt(0, r.UID)] = true
			// What retention drops must not be left where it is open.
			recent.fold = recent.fold || at.dropped
			if !at.dropped {
				recent.records = append(recent.records, r)
			}
		}
	}
	recent.fold = recent.fold || len(recent.records) > max(l.foldAt, open/recentPart)
	return recent
}

// changedShards are the shards whose documents may have to be written: those of
// dirty bins, days of which there are hours yet, and what is unfolded, or what that is
// folded into.
func (l *Ledger) changedShards(recent unfolded) map[shard]bool {
	shards := map[shard]bool{{kind: recentShard}: true}
	if recent.fold {
		for h := range recent.bins {
			shards[l.shardOf(h)] = true
		}
	}
	for h := range l.dirty {
		if s := l.shardOf(h); s.closed() && !l.past(s) {
			shards[s] = true
		}
	}
	for name, stored := range l.stored {
		if name == headerName || stored.damaged || l.past(stored.shard) {
			continue
		}
		if s := l.shardFor(stored.shard); s != stored.shard {
			shards[s] = true
		}
	}
	return shards
}

// recordsOf gathers the records of shards: those that are there, and those that
// left and that their documents must keep for now.
func (l *Ledger) recordsOf(shards map[shard]bool, recent unfolded) map[shard][]Record {
	groups := make(map[shard][]Record, len(shards))
	for r := range l.All() {
		if r.Open() && !recent.fold {
			continue
		}
		if s := l.shardOf(binOf(r)); shards[s] {
			groups[s] = append(groups[s], *r)
		}
	}
	for h, records := range l.left {
		if s := l.shardOf(h); shards[s] {
			groups[s] = append(groups[s], records...)
		}
	}
	if !recent.fold && len(recent.records) > 0 {
		groups[shard{kind: recentShard}] = recent.records
	}
	return groups
}

// compareShards orders closed shards before the others.
func compareShards(a, b shard) int {
	if a.closed() != b.closed() {
		return prefer(a.closed())
	}
	return cmp.Or(cmp.Compare(a.first, b.first), cmp.Compare(a.kind, b.kind))
}

// encodeShard makes the documents of a shard, as few as fit. It takes no name of
// what was lost, so that a copy can be put back.
func (l *Ledger) encodeShard(s shard, records []Record) ([]made, error) {
	for parts := 1; parts <= maxParts; parts *= 2 {
		if slices.ContainsFunc(l.Header.Lost, func(lost Loss) bool {
			p, known := parsePart(lost.Document)
			return known && p.shard == s && p.parts == parts
		}) {
			continue
		}
		documents, err := l.encodeParts(s, records, parts)
		if err != nil || documents != nil {
			return documents, err
		}
	}
	return nil, fmt.Errorf("a record in the ledger's shard %s is larger than a store takes; nothing was changed", s)
}

// encodeParts makes so many documents of a shard; none where one is too large.
func (l *Ledger) encodeParts(s shard, records []Record, parts int) ([]made, error) {
	split := make([][]Record, parts)
	for _, r := range records {
		n := partOf(r.UID, parts) - 1
		split[n] = append(split[n], r)
	}
	var documents []made
	for n, records := range split {
		if len(records) == 0 {
			continue
		}
		document, err := l.intervals(part{shard: s, number: n + 1, parts: parts}.String(), records)
		if err != nil {
			return nil, err
		}
		if len(document.Data) > maxDocument {
			return nil, nil
		}
		switch err := l.decoder.open(document.Data); { // what would not be read is not written
		case errors.Is(err, columns.ErrLarge):
			return nil, nil
		case err != nil:
			return nil, fmt.Errorf("the ledger's document %s could not be read again, and nothing was changed: %w", document.Name, err)
		}
		documents = append(documents, document)
	}
	return documents, nil
}
