package world

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
)

// The state directory contains a snapshot of all records, and a journal of the changes since. The
// journal has one line a change, with the whole new record, so that it can be replayed twice.
const (
	snapshotName   = "state.json"
	journalName    = "journal.jsonl"
	stateVersion   = 1
	compactAtBytes = 16 << 20
)

type snapshot struct {
	Version int                        `json:"version"`
	Records map[string]json.RawMessage `json:"records"`
}

type journalLine struct {
	Set    map[string]json.RawMessage `json:"set,omitempty"`
	Delete []string                   `json:"delete,omitempty"`
}

type stateStore struct {
	dir     string
	journal *os.File
	size    int64 // of the journal
	world   *World
}

// openState reads the state of a directory into an empty world, and creates the directory if
// needed.
func openState(dir string, w *World) (*stateStore, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("the state directory cannot be created: %w", err)
	}
	records, err := readSnapshot(filepath.Join(dir, snapshotName))
	if err != nil {
		return nil, err
	}
	if err := replayJournal(filepath.Join(dir, journalName), records); err != nil {
		return nil, err
	}
	if err := w.restore(records); err != nil {
		return nil, fmt.Errorf("the state in %s is damaged: %w; move it away to start again", dir, err)
	}
	st := &stateStore{dir: dir, world: w}
	return st, st.compact()
}

func readSnapshot(path string) (map[string]json.RawMessage, error) {
	raw, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return map[string]json.RawMessage{}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the state cannot be read: %w", err)
	}
	var s snapshot
	if err := json.Unmarshal(raw, &s); err != nil {
		return nil, fmt.Errorf("the state in %s is damaged: %w; move it away to start again", path, err)
	}
	if s.Version != stateVersion {
		return nil, fmt.Errorf("the state in %s has version %d, and this program knows version %d: use the program that wrote it, or move it away", path,
			s.Version, stateVersion)
	}
	if s.Records == nil {
		s.Records = map[string]json.RawMessage{}
	}
	return s.Records, nil
}

// replayJournal applies the journal to records. It drops an unfinished last line, whose call never
// got a response.
func replayJournal(path string, records map[string]json.RawMessage) error {
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("the journal cannot be read: %w", err)
	}
	defer func() { _ = file.Close() }() // read only
	reader := bufio.NewReader(file)
	for n := 1; ; n++ {
		line, err := reader.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return fmt.Errorf("the journal cannot be read: %w", err)
		}
		var change journalLine
		if err := json.Unmarshal(line, &change); err != nil {
			return fmt.Errorf("line %d of %s is damaged: %w; move the state away to start again", n, path, err)
		}
		maps.Copy(records, change.Set)
		for _, key := range change.Delete {
			delete(records, key)
		}
	}
}

// commit appends the changes since the last commit.
func (st *stateStore) commit(w *World) error {
	if len(w.changes.keys) == 0 {
		return nil
	}
	line := journalLine{Set: map[string]json.RawMessage{}}
	for key := range w.changes.keys {
		if record := w.kinds.encode(key); record != nil {
			line.Set[key] = record
		} else {
			line.Delete = append(line.Delete, key)
		}
	}
	if err := st.append(append(wire.MustJSON(line), '\n')); err != nil {
		return err
	}
	clear(w.changes.keys)
	if st.size > compactAtBytes {
		return st.compact()
	}
	return nil
}

// append writes a whole line or nothing.
func (st *stateStore) append(line []byte) error {
	n, err := st.journal.Write(line)
	if err == nil {
		st.size += int64(n)
		return nil
	}
	return errors.Join(fmt.Errorf("writing the journal: %w", err), st.journal.Truncate(st.size))
}

// replace stores another world and deletes the one before.
func (st *stateStore) replace(w *World) error {
	st.world = w
	return st.compact()
}

// compact writes a snapshot and starts the journal again.
func (st *stateStore) compact() error {
	s := snapshot{Version: stateVersion, Records: st.world.kinds.encodeAll()}
	if err := writeAtomically(filepath.Join(st.dir, snapshotName), wire.MustJSON(s)); err != nil {
		return err
	}
	if st.journal != nil {
		_ = st.journal.Close() // its content is now in the snapshot
	}
	journal, err := os.OpenFile(filepath.Join(st.dir, journalName), os.O_CREATE|os.O_TRUNC|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("opening the journal: %w", err)
	}
	st.journal, st.size = journal, 0
	clear(st.world.changes.keys)
	return nil
}

func (st *stateStore) close() error {
	return errors.Join(st.compact(), st.journal.Close())
}

func writeAtomically(path string, content []byte) error {
	temp, err := os.CreateTemp(filepath.Dir(path), ".state-*")
	if err != nil {
		return fmt.Errorf("writing the state: %w", err)
	}
	_, err = temp.Write(content)
	if err == nil {
		err = temp.Sync()
	}
	err = errors.Join(err, temp.Close())
	if err == nil {
		err = os.Rename(temp.Name(), path)
	}
	if err != nil {
		_ = os.Remove(temp.Name()) // the first error matters
		return fmt.Errorf("writing the state: %w", err)
	}
	return nil
}
