//nolint:thelper // the checks are tests themselves, and failures belong to their lines
package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

var train = store.Key{Kind: store.SpotPools, Name: "ap-singapore/train"}

// Run checks a backend. Each call of open gives a new, empty store.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	t.Helper()
	for name, check := range map[string]func(t *testing.T, s store.Store){
		"read what was written":            readBack,
		"write needs the revision":         writeNeedsRevision,
		"every write has a new revision":   newRevisions,
		"delete needs the revision":        deleteNeedsRevision,
		"list":                             list,
		"every kind":                       everyKind,
		"a large document":                 largeDocument,
		"names":                            names,
		"no write is lost":                 noLostWrite,
		"one of many creates":              oneCreate,
		"a lock excludes":                  lockExcludes,
		"a lock is waited for":             lockWaits,
		"waiting for a lock can end":       lockEnds,
		"a lock guards":                    lockGuards,
		"an ended context stops all of it": endedContext,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			check(t, open(t))
		})
	}
}

func write(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) store.Revision {
	t.Helper()
	next, err := s.Write(t.Context(), key, []byte(data), revision)
	if err != nil {
		t.Fatalf("write of %s: %v", key, err)
	}
	return next
}

func expect(t *testing.T, s store.Store, key store.Key, data string, revision store.Revision) {
	t.Helper()
	got, err := s.Read(t.Context(), key)
	if err != nil {
		t.Fatalf("read of %s: %v", key, err)
	}
	if diff := cmp.Diff(store.Document{Key: key, Revision: revision, Data: []byte(data)}, got); diff != "" {
		t.Errorf("%s: (-want +got)\n%s", key, diff)
	}
}

func expectError(t *testing.T, doing string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: got the error %v, want %v", doing, err, want)
	}
}

func readBack(t *testing.T, s store.Store) {
	_, err := s.Read(t.Context(), train)
	expectError(t, "read of nothing", err, store.ErrNotFound)
	data := []byte("{\n \"any\": \"bytes \x00\xff\"}")
	revision, err := s.Write(t.Context(), train, data, "")
	if err != nil {
		t.Fatal(err)
	}
	want := string(data)
	clear(data) // which is the caller's
	expect(t, s, train, want, revision)
	got, err := s.Read(t.Context(), train)
	if err != nil {
		t.Fatal(err)
	}
	clear(got.Data)
	expect(t, s, train, want, revision)
}

func writeNeedsRevision(t *testing.T, s store.Store) {
	_, err := s.Write(t.Context(), train, []byte("a"), "made-up")
	expectError(t, "change of nothing", err, store.ErrConflict)
	first := write(t, s, train, "a", "")
	_, err = s.Write(t.Context(), train, []byte("b"), "")
	expectError(t, "create of what is there", err, store.ErrConflict)
	second := write(t, s, train, "b", first)
	_, err = s.Write(t.Context(), train, []byte("c"), first)
	expectError(t, "change of an older revision", err, store.ErrConflict)
	expect(t, s, train, "b", second)
	if err := s.Delete(t.Context(), train, second); err != nil {
		t.Fatal(err)
	}
	_, err = s.Write(t.Context(), train, []byte("c"), second)
	expectError(t, "change of what is gone", err, store.ErrConflict)
	expect(t, s, train, "d", write(t, s, train, "d", ""))
}

func newRevisions(t *testing.T, s store.Store) {
	var revision store.Revision
	var seen []store.Revision
	for _, data := range []string{"a", "b", "a", "a", "a", ""} {
		revision = write(t, s, train, data, revision)
		if revision == "" || slices.Contains(seen, revision) {
			t.Fatalf("writing %q gave the revision %q after %q", data, revision, seen)
		}
		seen = append(seen, revision)
		expect(t, s, train, data, revision)
	}
}

func deleteNeedsRevision(t *testing.T, s store.Store) {
	expectError(t, "delete of nothing", s.Delete(t.Context(), train, "made-up"), store.ErrNotFound)
	first := write(t, s, train, "a", "")
	second := write(t, s, train, "b", first)
	expectError(t, "delete of an older revision", s.Delete(t.Context(), train, first), store.ErrConflict)
	expectError(t, "delete without a revision", s.Delete(t.Context(), train, ""), store.ErrConflict)
	expect(t, s, train, "b", second)
	if err := s.Delete(t.Context(), train, second); err != nil {
		t.Fatal(err)
	}
	_, err := s.Read(t.Context(), train)
	expectError(t, "read of what is gone", err, store.ErrNotFound)
	expectError(t, "second delete", s.Delete(t.Context(), train, second), store.ErrNotFound)
}

func list(t *testing.T, s store.Store) {
	documents := func(kind store.Kind) []store.Document {
		t.Helper()
		got, err := s.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	if got := documents(store.SpotPools); len(got) != 0 {
		t.Fatalf("an empty store lists %v", got)
	}
	var want []store.Document
	for _, name := range []string{"a", "ap-1/b", "ap-1/b-c", "ap-1/b/c", "ap-10/a", "ap/b", "b"} {
		key := store.Key{Kind: store.SpotPools, Name: name}
		want = append(want, store.Document{Key: key, Revision: write(t, s, key, "about "+name, ""), Data: []byte("about " + name)})
	}
	write(t, s, store.Key{Kind: store.Journals, Name: "a"}, "another kind", "")
	if diff := cmp.Diff(want, documents(store.SpotPools)); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	if err := s.Delete(t.Context(), want[1].Key, want[1].Revision); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(slices.Delete(want, 1, 2), documents(store.SpotPools)); diff != "" {
		t.Errorf("after a delete (-want +got)\n%s", diff)
	}
}

// everyKind keeps documents of one name in each kind, and tells them apart.
func everyKind(t *testing.T, s store.Store) {
	const name = "0f7d3f5c-77c9-4c4f-9d57-3a1b2c4d5e6f/closed-20260101/00_a-b"
	revisions := map[store.Kind]store.Revision{}
	for _, kind := range store.Kinds() {
		revisions[kind] = write(t, s, store.Key{Kind: kind, Name: name}, string(kind), "")
	}
	for _, kind := range store.Kinds() {
		key := store.Key{Kind: kind, Name: name}
		expect(t, s, key, string(kind), revisions[kind])
		got, err := s.List(t.Context(), kind)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff([]store.Document{{Key: key, Revision: revisions[kind], Data: []byte(kind)}}, got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", kind, diff)
		}
		if err := s.Delete(t.Context(), key, revisions[kind]); err != nil {
			t.Error(err)
		}
		if got, err := s.List(t.Context(), kind); err != nil || len(got) > 0 {
			t.Errorf("%s: after the delete %v (%v)", kind, got, err)
		}
	}
}

// largeDocument keeps what is large and compresses, as most that is large does.
func largeDocument(t *testing.T, s store.Store) {
	for _, kind := range []store.Kind{store.SpotPools, store.Ledger} {
		key := store.Key{Kind: kind, Name: "large"}
		data := strings.Repeat("{\"name\": \"train\"}\n", 200_000)
		revision := write(t, s, key, data, "")
		got, err := s.Read(t.Context(), key)
		if err != nil || got.Revision != revision || string(got.Data) != data {
			t.Errorf("%s: %d bytes came back of %d (%v)", key, len(got.Data), len(data), err)
		}
	}
}

// Names that could lead out of the store, or mean two things in it.
var badNames = []string{"", ".", "..", "../a", "a/../b", "/a", "a/", "a//b", `a\b`, "a.json", ".a", "A", "a b", "a\x00", "a\n", "ä", "-a", "a-", "a/b/c/d/e", string(make([]byte, 300))}

func names(t *testing.T, s store.Store) {
	ctx := t.Context()
	for _, name := range badNames {
		key := store.Key{Kind: store.SpotPools, Name: name}
		_, readError := s.Read(ctx, key)
		_, writeError := s.Write(ctx, key, []byte("a"), "")
		_, lockError := s.Lock(ctx, name, 0)
		for doing, err := range map[string]error{"read": readError, "write": writeError, "delete": s.Delete(ctx, key, ""), "lock": lockError} {
			if err == nil || errors.Is(err, store.ErrNotFound) {
				t.Errorf("%s of the name %q: got the error %v, want a refusal of the name", doing, name, err)
			}
		}
	}
	for _, kind := range []store.Kind{"", "..", "../spot_pools", "locks", "Spot"} {
		if _, err := s.Write(ctx, store.Key{Kind: kind, Name: "a"}, []byte("a"), ""); err == nil {
			t.Errorf("the kind %q was written", kind)
		}
		if _, err := s.List(ctx, kind); err == nil {
			t.Errorf("the kind %q was listed", kind)
		}
	}
}

const (
	writers = 8
	rounds  = 15
)

// increment adds one to the number in a document, however often it must try.
func increment(ctx context.Context, s store.Store, key store.Key) error {
	for {
		d, err := s.Read(ctx, key)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		n, err := strconv.Atoi("0" + string(d.Data))
		if err != nil {
			return err
		}
		_, err = s.Write(ctx, key, []byte(strconv.Itoa(n+1)), d.Revision)
		if !errors.Is(err, store.ErrConflict) {
			return err
		}
	}
}

func atOnce(t *testing.T, do func(n int) error) {
	t.Helper()
	var wg sync.WaitGroup
	for n := range writers {
		wg.Go(func() {
			if err := do(n); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
}

func noLostWrite(t *testing.T, s store.Store) {
	atOnce(t, func(int) error {
		for range rounds {
			if err := increment(t.Context(), s, train); err != nil {
				return err
			}
		}
		return nil
	})
	d, err := s.Read(t.Context(), train)
	if err != nil || string(d.Data) != strconv.Itoa(writers*rounds) {
		t.Errorf("%d increments gave %s (%v)", writers*rounds, d.Data, err)
	}
}

func oneCreate(t *testing.T, s store.Store) {
	var mu sync.Mutex
	var created []string
	atOnce(t, func(n int) error {
		data := fmt.Sprint("by ", n)
		_, err := s.Write(t.Context(), train, []byte(data), "")
		if errors.Is(err, store.ErrConflict) {
			return nil
		}
		mu.Lock()
		defer mu.Unlock()
		created = append(created, data)
		return err
	})
	d, err := s.Read(t.Context(), train)
	if err != nil || len(created) != 1 || string(d.Data) != created[0] {
		t.Errorf("created %q, and there is %q (%v)", created, d.Data, err)
	}
}

func lock(t *testing.T, s store.Store, name string) store.Lock {
	t.Helper()
	l, err := s.Lock(t.Context(), name, 0)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func release(t *testing.T, l store.Lock) {
	t.Helper()
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
}

func lockExcludes(t *testing.T, s store.Store) {
	first := lock(t, s, "spot_pool/ap-singapore/train")
	_, err := s.Lock(t.Context(), "spot_pool/ap-singapore/train", 0)
	var locked *store.LockedError
	if !errors.As(err, &locked) || locked.Name != "spot_pool/ap-singapore/train" || locked.Holder == "" {
		t.Fatalf("the second lock: got the error %v, want a LockedError", err)
	}
	other := lock(t, s, "run")
	above := lock(t, s, "spot_pool/ap-singapore")
	release(t, first)
	release(t, first) // harmless
	second := lock(t, s, "spot_pool/ap-singapore/train")
	release(t, first) // and not the second's
	if _, err := s.Lock(t.Context(), "spot_pool/ap-singapore/train", 0); !errors.As(err, &locked) {
		t.Errorf("releasing a lock again gave back another's: %v", err)
	}
	for _, l := range []store.Lock{second, above, other} {
		select {
		case <-l.Lost():
			t.Error("a held lock says that it is lost")
		default:
		}
		release(t, l)
	}
}

func lockWaits(t *testing.T, s store.Store) {
	first := lock(t, s, "run")
	got := make(chan error)
	go func() {
		l, err := s.Lock(t.Context(), "run", time.Minute)
		if err == nil {
			err = l.Release()
		}
		got <- err
	}()
	select {
	case err := <-got:
		t.Fatalf("the second lock did not wait: %v", err)
	case <-time.After(20 * time.Millisecond):
	}
	release(t, first)
	if err := <-got; err != nil {
		t.Errorf("waiting for a lock that is given back: %v", err)
	}
}

func lockEnds(t *testing.T, s store.Store) {
	held := lock(t, s, "run")
	defer release(t, held)
	var locked *store.LockedError
	if _, err := s.Lock(t.Context(), "run", 5*time.Millisecond); !errors.As(err, &locked) {
		t.Errorf("the wait was over: got the error %v, want a LockedError", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(5*time.Millisecond, cancel)
	_, err := s.Lock(ctx, "run", time.Hour)
	expectError(t, "the context was cancelled", err, context.Canceled)
	if !errors.As(err, &locked) {
		t.Errorf("the context was cancelled: got the error %v, want a LockedError in it", err)
	}
}

// lockGuards looks for two who hold one lock. What the holders share is atomic:
// a lock between processes orders nothing that the race detector knows of.
func lockGuards(t *testing.T, s store.Store) {
	var taken atomic.Bool
	atOnce(t, func(int) error {
		for range rounds {
			l, err := s.Lock(t.Context(), "run", time.Minute)
			if err != nil {
				return err
			}
			if !taken.CompareAndSwap(false, true) {
				return errors.New("two hold the lock")
			}
			runtime.Gosched()
			taken.Store(false)
			if err := l.Release(); err != nil {
				return err
			}
		}
		return nil
	})
}

func endedContext(t *testing.T, s store.Store) {
	revision := write(t, s, train, "a", "")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.Read(ctx, train)
	expectError(t, "read", err, context.Canceled)
	_, err = s.List(ctx, train.Kind)
	expectError(t, "list", err, context.Canceled)
	_, err = s.Write(ctx, train, []byte("b"), revision)
	expectError(t, "write", err, context.Canceled)
	expectError(t, "delete", s.Delete(ctx, train, revision), context.Canceled)
	_, err = s.Lock(ctx, "run", time.Minute)
	expectError(t, "lock", err, context.Canceled)
	expect(t, s, train, "a", revision)
}
