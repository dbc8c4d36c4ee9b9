package ledger

import (
	"errors"
	"fmt"
	"maps"
	"slices"
)

// Beside its records the ledger has two memories, of nodes and of bindings: each is
// one document, or several where that would be too large, and is written as a whole.

// forgetful says what it means that a document of a memory can't be read. No
// interval is lost by it, and what is remembered anew is written in its place.
func forgetful(cause error, of, so string) error {
	return fmt.Errorf("%w; what it held of %s is forgotten: %s", cause, of, so)
}

// memoryChanged says whether documents of a kind are those of a memory that may say
// something else by now.
func (l *Ledger) memoryChanged(kind shardKind) bool {
	return kind == nodesShard && l.nodesChanged || kind == bindingsShard && l.bindingsChanged
}

// memories makes the documents of the memories that changed.
func (l *Ledger) memories() ([]made, error) {
	var all []made
	if l.nodesChanged {
		documents, err := memoryOf(l, nodesShard, l.nodes, encodeNodes)
		if err != nil {
			return nil, err
		}
		all = documents
	}
	if l.bindingsChanged {
		documents, err := memoryOf(l, bindingsShard, l.bindings, encodeBindings)
		if err != nil {
			return nil, err
		}
		all = append(all, documents...)
	}
	return all, nil
}

// memoryOf makes the documents of one memory, by UID, as few as fit.
func memoryOf[T any](l *Ledger, kind shardKind, all map[string]T, encode func([]T) []byte) ([]made, error) {
	if len(all) == 0 {
		return nil, nil
	}
	uids := slices.Sorted(maps.Keys(all))
	for parts := 1; parts <= maxParts; parts *= 2 {
		split := make([][]T, parts)
		for _, uid := range uids {
			at := partOf(uid, parts) - 1
			split[at] = append(split[at], all[uid])
		}
		documents, fit, err := sealMemory(l, kind, split, encode)
		if err != nil || fit {
			return documents, err
		}
	}
	return nil, errors.New("what is remembered of nodes, or of pods that are bound, is more than a store takes; nothing was changed")
}

func sealMemory[T any](l *Ledger, kind shardKind, split [][]T, encode func([]T) []byte) (documents []made, fit bool, err error) {
	for n, values := range split {
		if len(values) == 0 {
			continue
		}
		body := encode(values)
		if len(body) > maxBody {
			return nil, false, nil
		}
		document, err := l.seal(part{shard: shard{kind: kind}, number: n + 1, parts: len(split)}.String(), body)
		if err != nil {
			return nil, false, err
		}
		if len(document.Data) > maxDocument {
			return nil, false, nil
		}
		document.records = len(values)
		documents = append(documents, document)
	}
	return documents, true, nil
}
