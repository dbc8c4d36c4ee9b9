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
// where something was lost, the first is too, so that a run that is cut short
// does not hide it.
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
		documents, counts, err := l.encodeShard(s, groups[s])
		if err != nil {
			return Changes{}, err
		}
		for n, document := range documents {
			delete(deleted, document.Name)
			listed[document.Name] = counts[n]
			if changed, err := l.changed(document); err != nil {
				return Changes{}, err
			} else if changed {
				changes.Write = append(changes.Write, document)
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
	if len(changes.Write) > 0 && !slices.Equal(l.Header.Lost, l.written.Lost) {
		before := l.written
		before.ClusterUID, before.Lost = l.Header.ClusterUID, l.Header.Lost
		warning, err := l.header(before, l.listed)
		if err != nil {
			return err
		}
		changes.Write = slices.Insert(changes.Write, 0, warning)
	}
	header, err := l.header(l.Header, listed)
	if err != nil {
		return err
	}
	if changed, err := l.changed(header); err != nil {
		return err
	} else if changed || len(changes.Write) > 0 {
		changes.Write = append(changes.Write, header)
	}
	return nil
}

func (l *Ledger) header(h Header, listed map[string]int) (Document, error) {
	body, err := encodeHeader(h, listed)
	if err != nil {
		return Document{}, err
	}
	data, err := seal(headerName, h.ClusterUID, body)
	if err == nil && (len(data) > maxDocument || len(body) > maxBody) {
		err = errors.New("the ledger's header is larger than a store takes; nothing was changed")
	}
	return Document{Name: headerName, Data: data}, err
}

// changed says whether a document differs from the stored one of its name.
func (l *Ledger) changed(d Document) (bool, error) {
	s, err := unseal(d.Name, l.Header.ClusterUID, d.Data)
	return l.stored[d.Name].sum != s.sum, err
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
func (l *Ledger) encodeShard(s shard, records []Record) ([]Document, []int, error) {
	for parts := 1; parts <= maxParts; parts *= 2 {
		documents, counts, err := l.encodeParts(s, records, parts)
		if err != nil || documents != nil {
			return documents, counts, err
		}
	}
	return nil, nil, fmt.Errorf("a record in the ledger's shard %s is larger than a store takes; nothing was changed", s)
}

// encodeParts makes so many documents of a shard; none where one is too large.
func (l *Ledger) encodeParts(s shard, records []Record, parts int) ([]Document, []int, error) {
	split := make([][]Record, parts)
	for _, r := range records {
		n := partOf(r.UID, parts) - 1
		split[n] = append(split[n], r)
	}
	var documents []Document
	var counts []int
	for n, records := range split {
		if len(records) == 0 {
			continue
		}
		name := part{shard: s, number: n + 1, parts: parts}.String()
		body := encodeRecords(records)
		if len(body) > maxBody {
			return nil, nil, nil
		}
		data, err := seal(name, l.Header.ClusterUID, body)
		if err != nil {
			return nil, nil, err
		}
		if len(data) > maxDocument {
			return nil, nil, nil
		}
		documents, counts = append(documents, Document{name, data}), append(counts, len(records))
	}
	return documents, counts, nil
}
