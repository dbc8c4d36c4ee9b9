package storetest_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/storetest"
)

func open(t *testing.T) store.Store {
	t.Helper()
	s, err := directory.Open(filepath.Join(t.TempDir(), "store"), directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var (
	key       = store.Key{Kind: store.Journals, Name: "ap-singapore/train"}
	errFaulty = errors.New("no space left on device")
)

func TestWithoutFaultsItIsTheStore(t *testing.T) {
	t.Parallel()
	storetest.Run(t, func(t *testing.T) store.Store { t.Helper(); return storetest.Wrap(open(t), &storetest.Faults{}) })
}

func TestFaultBeforeAndAfter(t *testing.T) {
	t.Parallel()
	s := open(t)
	f := storetest.Wrap(s, &storetest.Faults{Before: storetest.At(1, errFaulty), After: storetest.At(2, errFaulty)})
	if _, err := f.Write(t.Context(), key, []byte("a"), ""); !errors.Is(err, errFaulty) {
		t.Errorf("before: %v", err)
	}
	if _, err := s.Read(t.Context(), key); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a write that failed before took effect: %v", err)
	}
	if revision, err := f.Write(t.Context(), key, []byte("a"), ""); !errors.Is(err, errFaulty) || revision != "" {
		t.Errorf("after: %q %v", revision, err)
	}
	if d, err := f.Read(t.Context(), key); err != nil || string(d.Data) != "a" {
		t.Errorf("a write that failed after took no effect: %q %v", d.Data, err)
	}
	want := []storetest.Op{{Method: "Write", Key: key, N: 1}, {Method: "Write", Key: key, N: 2}, {Method: "Read", Key: key, N: 1}}
	if diff := cmp.Diff(want, f.Ops()); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestKilledProcessesCallAndLockNothing(t *testing.T) {
	t.Parallel()
	s := open(t)
	f := storetest.Wrap(s, &storetest.Faults{After: storetest.At(1, storetest.ErrKilled)})
	held, err := f.Lock(t.Context(), "run", 0)
	if err != nil {
		t.Fatal(err)
	}
	_, writeError := f.Write(t.Context(), key, []byte("a"), "")
	_, readError := f.Read(t.Context(), key)
	_, lockError := f.Lock(t.Context(), "other", 0)
	for doing, err := range map[string]error{
		"write": writeError, "read": readError, "lock": lockError, "release": held.Release(), "delete": f.Delete(t.Context(), key, "r"),
	} {
		if !errors.Is(err, storetest.ErrKilled) {
			t.Errorf("%s: %v", doing, err)
		}
	}
	d, err := s.Read(t.Context(), key)
	if err != nil || string(d.Data) != "a" {
		t.Errorf("the last write before the end is lost: %q %v", d.Data, err)
	}
	free, err := s.Lock(t.Context(), "run", 0)
	if err != nil {
		t.Fatalf("the lock is still held: %v", err)
	}
	if err := free.Release(); err != nil {
		t.Error(err)
	}
}
