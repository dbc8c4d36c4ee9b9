package move_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/move"
)

// documents are one of every kind, and what a careless copy would change.
func documents() map[store.Key]string {
	all := map[store.Key]string{
		{Kind: store.Ledger, Name: "cluster/recent.parquet"}: "PAR1\x00\xff\xfePAR1",
		{Kind: store.Journals, Name: "ap-singapore/train/u"}: "{}\n\n",
	}
	for _, kind := range store.Kinds() {
		all[store.Key{Kind: kind, Name: "ap-singapore/train"}] = fmt.Sprintf("{\"kind\": %q}", kind)
	}
	return all
}

func contents(t *testing.T, s store.Store) map[store.Key]string {
	t.Helper()
	list, err := move.Contents(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	all := map[store.Key]string{}
	for _, d := range list {
		all[d.Key] = string(d.Data)
	}
	return all
}

func open(t *testing.T, path string) *directory.Store {
	t.Helper()
	s, err := directory.Open(path, directory.Options{Create: true, Moving: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func filled(t *testing.T, path string, documents map[store.Key]string) *directory.Store {
	t.Helper()
	s := open(t, path)
	for key, data := range documents {
		if _, err := s.Write(t.Context(), key, []byte(data), ""); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

func usable(path string) bool {
	_, err := directory.Open(path, directory.Options{})
	return err == nil
}

var errKilled = errors.New("killed")

// killedStore is a store whose process is killed right before or after an effect.
type killedStore struct {
	store.Movable
	effects *int
	at      int
	after   bool
}

func (s killedStore) effect(do func() error) error {
	*s.effects++
	switch {
	case *s.effects > s.at, *s.effects == s.at && !s.after:
		*s.effects = max(*s.effects, s.at)
		return errKilled
	case *s.effects == s.at:
		return errors.Join(do(), errKilled)
	}
	return do()
}

func (s killedStore) SetMark(ctx context.Context, m store.Mark) error {
	return s.effect(func() error { return s.Movable.SetMark(ctx, m) })
}

func (s killedStore) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (r store.Revision, err error) {
	err = s.effect(func() error { r, err = s.Movable.Write(ctx, key, data, revision); return err })
	return r, err
}

func (s killedStore) Delete(ctx context.Context, key store.Key, revision store.Revision) error {
	return s.effect(func() error { return s.Movable.Delete(ctx, key, revision) })
}

// TestAMoveIsKilledAnywhereAndRepeated kills a move right before and after each effect:
// at no time can both stores be used, and the next move finishes it.
func TestAMoveIsKilledAnywhereAndRepeated(t *testing.T) {
	t.Parallel()
	few := map[store.Key]string{{Kind: store.SpotPools, Name: "ap-singapore/train"}: "{}", {Kind: store.Grants, Name: "u"}: "[]"}
	for at, done := 1, false; !done; at++ {
		for _, after := range []bool{false, true} {
			dir := t.TempDir()
			a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
			from, to, effects := filled(t, a, few), open(t, b), 0
			_, err := move.Move{From: killedStore{from, &effects, at, after}, To: killedStore{to, &effects, at, after}}.Do(t.Context())
			done = err == nil
			if !done && !errors.Is(err, errKilled) {
				t.Fatal(err)
			}
			if again := fmt.Sprintf("Run gpupool store move directory:%s directory:%s again, or with --cancel", a, b); at == 3 &&
				!strings.Contains(err.Error(), again) {
				t.Errorf("a copy that failed says %v, and not %q", err, again)
			}
			if len(contents(t, to)) > 0 && usable(a) && usable(b) {
				t.Errorf("killed at effect %d: both stores can be used", at)
			}
			if usable(b) && cmp.Diff(few, contents(t, to)) != "" && !usable(a) {
				t.Errorf("killed at effect %d: the new store can be used, and lacks documents", at)
			}
			if _, err := (move.Move{From: from, To: to}).Do(t.Context()); err != nil {
				t.Fatalf("repeated after effect %d: %v", at, err)
			}
			if diff := cmp.Diff(few, contents(t, to)); diff != "" || !usable(b) {
				t.Errorf("killed at effect %d, and repeated: %s", at, diff)
			}
			if left := contents(t, from); len(left) > 0 || usable(a) {
				t.Errorf("killed at effect %d: the old store has %v", at, left)
			}
		}
	}
}

// TestAMovedStoreNamesTheNewOne: every use of it is refused, also by a process that had
// opened it before, and the store can be moved back.
func TestAMovedStoreNamesTheNewOne(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a"), filepath.Join(dir, "b")
	from, to := filled(t, a, documents()), open(t, b)
	earlier, err := directory.Open(a, directory.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if moved, err := (move.Move{From: from, To: to}).Do(t.Context()); err != nil || !moved {
		t.Fatal(moved, err)
	}
	_, opened := directory.Open(a, directory.Options{Create: true})
	_, written := earlier.Write(t.Context(), store.Key{Kind: store.SpotPools, Name: "ap-singapore/new"}, []byte("{}"), "")
	_, listed := earlier.List(t.Context(), store.SpotPools)
	for what, err := range map[string]error{"opening": opened, "writing": written, "listing": listed} {
		var moved *store.MovedError
		if !errors.As(err, &moved) || !strings.Contains(err.Error(), "was moved to directory:"+b) {
			t.Errorf("%s it: %v", what, err)
		}
	}
	if moved, err := (move.Move{From: from, To: to}).Do(t.Context()); err != nil || moved {
		t.Errorf("the same move once more: %t, %v", moved, err)
	}
	if _, err := (move.Move{From: to, To: from}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(documents(), contents(t, from)); diff != "" || !usable(a) || usable(b) {
		t.Errorf("moved back: %s", diff)
	}
}

// TestAMoveIsRefused if it would mix stores, or take one from its user. Both stores remain
// unchanged.
func TestAMoveIsRefused(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		arrange func(t *testing.T, from, to *directory.Store)
		want    string
	}{
		"to a store with documents": {func(t *testing.T, _, to *directory.Store) {
			t.Helper()
			if _, err := to.Write(t.Context(), store.Key{Kind: store.Holds, Name: "u"}, []byte("{}"), ""); err != nil {
				t.Fatal(err)
			}
		}, "is not empty (documents: 1)"},
		"beside a run":                    {func(t *testing.T, from, _ *directory.Store) { t.Helper(); hold(t, from, "run") }, `"run" is held by`},
		"beside a run of the other store": {func(t *testing.T, _, to *directory.Store) { t.Helper(); hold(t, to, "run") }, `"run" is held by`},
		"beside an apply": {func(t *testing.T, from, _ *directory.Store) {
			t.Helper()
			hold(t, from, "spot_pool/ap-singapore/train")
		}, `"spot_pool/ap-singapore/train" is held by`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			from, to := filled(t, filepath.Join(dir, "a"), documents()), open(t, filepath.Join(dir, "b"))
			c.arrange(t, from, to)
			_, err := move.Move{From: from, To: to, Locks: []string{"spot_pool/ap-singapore/train"}}.Do(t.Context())
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("it says %v", err)
			}
			if diff := cmp.Diff(documents(), contents(t, from)); diff != "" || !usable(filepath.Join(dir, "a")) || !usable(filepath.Join(dir, "b")) {
				t.Errorf("a store changed: %s", diff)
			}
		})
	}
	dir := t.TempDir()
	from, to, third := filled(t, filepath.Join(dir, "a"), documents()), open(t, filepath.Join(dir, "b")), open(t, filepath.Join(dir, "c"))
	if _, err := (move.Move{From: from, To: to}).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	for what, m := range map[string]move.Move{
		"from a store that was moved elsewhere": {From: from, To: third}, "to a store that was moved elsewhere": {From: third, To: from},
	} {
		if _, err := m.Do(t.Context()); err == nil || !strings.Contains(err.Error(), "was moved to directory:"+filepath.Join(dir, "b")) {
			t.Errorf("%s: %v", what, err)
		}
	}
}

func hold(t *testing.T, s store.Store, name string) {
	t.Helper()
	lock, err := s.Lock(t.Context(), name, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = lock.Release() })
}
