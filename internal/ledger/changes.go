package ledger

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Document is one document of the ledger, by its name without the cluster's UID.
type Document struct {
	Name string
	Data []byte // at most 900 KiB
}

// Changes are what is to be done so that the documents say what the ledger does:
// the writes in their order, then the deletions. After each of these steps the
// documents hold at least what they held before. The last write is the header's;
// where there is none yet or something was lost, the first is too, so that a run
// that is cut short does not hide that.
type Changes struct {
	Write  []Document
	Delete []string
}

// Changes says what differs from the documents that the ledger was loaded from.
// Who made the changes, and goes on, loads the ledger afresh. The error says
// that a document cannot be made as small as a store takes it.
func (l *Ledger) Changes() (Changes, error) {
	shards := l.changedShards()
	var changes Changes
	listed := map[string]int{}
	deleted := map[string]bool{}
	for name, stored := range l.stored {
		switch {
		case name == headerName:
		case l.past(stored.shard):
			deleted[name] = true
		case stored.damaged: // left for a person, unless its name is needed
		case !shards[l.shardOf(stored.first)]:
			listed[name] = stored.intervals
		default:
			deleted[name] = true // unless it is among the documents below
		}
	}
	groups := l.recordsOf(shards)
	for _, s := range slices.SortedFunc(maps.Keys(groups), compareShards) {
		documents, err := l.encodeShard(s, groups[s])
		if err != nil {
			return Changes{}, err
		}
		for _, document := range documents {
			delete(deleted, document.Name)
			listed[document.Name] = document.records
			if document.sum != l.stored[document.Name].sum {
				changes.Write = append(changes.Write, document.Document)
			}
		}
	}
	changes.Delete = slices.Sorted(maps.Keys(deleted))
	return changes, l.headerChanges(&changes, listed)
}

// headerChanges adds the header to the changes.
func (l *Ledger) headerChanges(changes *Changes, listed map[string]int) error {
	l.Header.prune()
	for n := range l.Header.Lost {
		loss := &l.Header.Lost[n]
		loss.Replaced = loss.Replaced || slices.ContainsFunc(changes.Write, func(d Document) bool { return d.Name == loss.Document })
	}
	_, hasHeader := l.stored[headerName]
	if len(changes.Write) > 0 && (!hasHeader || !slices.Equal(l.Header.Lost, l.written.Lost)) {
		before := l.written
		before.ClusterUID, before.Lost = l.Header.ClusterUID, l.Header.Lost
		warning, err := l.header(before, l.listed)
		if err != nil {
			return err
		}
		changes.Write = slices.Insert(changes.Write, 0, warning.Document)
	}
	header, err := l.header(l.Header, listed)
	if err != nil {
		return err
	}
	if header.sum != l.stored[headerName].sum || len(changes.Write) > 0 {
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
	body, err := encodeHeader(h, listed)
	if err != nil {
		return made{}, err
	}
	m, err := l.seal(headerName, body)
	if err == nil && (len(m.Data) > maxDocument || len(body) > maxBody) {
		err = errors.New("the ledger's header is larger than a store takes; nothing was changed")
	}
	return m, err
}

func (l *Ledger) seal(name string, body []byte) (made, error) {
	s, data, err := l.packer.seal(name, l.Header.ClusterUID, body)
	return made{Document: Document{Name: name, Data: data}, sum: s.sum}, err
}

// shardOf is where a home is written. A day that is one document already stays
// one, whatever the clock says.
func (l *Ledger) shardOf(h home) shard {
	if first := h - h%24; !h.open() && l.days[first] {
		return shard{first: first, days: true}
	}
	return shardOf(h, l.Header.LastRun)
}

// changedShards are the shards whose documents may have to be written: those of
// dirty homes, and days of which there are hours yet.
func (l *Ledger) changedShards() map[shard]bool {
	shards := map[shard]bool{}
	for h := range l.dirty {
		if s := l.shardOf(h); !l.past(s) {
			shards[s] = true
		}
	}
	for name, stored := range l.stored {
		if name == headerName || stored.damaged || l.past(stored.shard) {
			continue
		}
		if s := l.shardOf(stored.first); s != stored.shard {
			shards[s] = true
		}
	}
	return shards
}

// recordsOf gathers the records of shards: those that are there, and those that
// left and that their documents must keep for now.
func (l *Ledger) recordsOf(shards map[shard]bool) map[shard][]Record {
	groups := make(map[shard][]Record, len(shards))
	for r := range l.All() {
		if s := l.shardOf(homeOf(r)); shards[s] {
			groups[s] = append(groups[s], *r)
		}
	}
	for h, records := range l.left {
		if s := l.shardOf(h); shards[s] {
			groups[s] = append(groups[s], records...)
		}
	}
	return groups
}

// compareShards orders closed shards before open ones.
func compareShards(a, b shard) int {
	if a.open != b.open {
		return prefer(b.open)
	}
	return cmp.Compare(a.first, b.first)
}

// encodeShard makes the documents of a shard, as few as fit.
func (l *Ledger) encodeShard(s shard, records []Record) ([]made, error) {
	for parts := 1; parts <= maxParts; parts *= 2 {
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
		body := encodeRecords(records)
		if len(body) > maxBody {
			return nil, nil
		}
		document, err := l.seal(part{shard: s, number: n + 1, parts: parts}.String(), body)
		if err != nil {
			return nil, err
		}
		if len(document.Data) > maxDocument {
			return nil, nil
		}
		document.records = len(records)
		documents = append(documents, document)
	}
	return documents, nil
}
