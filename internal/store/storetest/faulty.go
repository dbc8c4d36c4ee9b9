package storetest

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// ErrKilled is every response to a process that was killed. A hook of Faults that returns it kills
// the process.
var ErrKilled = errors.New("killed")

// Op is one operation on a store.
type Op struct {
	Method string // "Read", "List", "Write", "Delete", "Lock" or "Release"
	// Key is the document's. The key of a list has no name, and that of a lock has the kind
	// "locks".
	Key store.Key
	// N is its number from 1. Writes and deletes are counted together, every other method
	// separately.
	N int
}

// Faults are called around each operation, one at a time. An error from Before prevents the
// operation; an error from After hides its success. Either may be nil.
type Faults struct{ Before, After func(op Op) error }

// At returns a hook that returns err for the n-th write or delete only.
func At(n int, err error) func(op Op) error {
	return func(op Op) error {
		if op.N == n && (op.Method == "Write" || op.Method == "Delete") {
			return err
		}
		return nil
	}
}

// Faulty is a store with faults, as one process sees it. After the process is killed, no operation
// has an effect, and its locks are free.
type Faulty struct {
	store  store.Store
	faults Faults

	mu     sync.Mutex
	counts map[string]int
	ops    []Op
	held   []store.Lock
	killed bool
}

var _ store.Store = (*Faulty)(nil)

// Wrap adds faults to a store.
func Wrap(s store.Store, f *Faults) *Faulty {
	return &Faulty{store: s, faults: *f, counts: map[string]int{}}
}

// Ops returns every operation that was begun, in order.
func (f *Faulty) Ops() []Op {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.ops)
}

// Read is store.Store's.
func (f *Faulty) Read(ctx context.Context, key store.Key) (d store.Document, err error) {
	err = f.do("Read", key, func() error { d, err = f.store.Read(ctx, key); return err })
	return d, err
}

// List is store.Store's.
func (f *Faulty) List(ctx context.Context, kind store.Kind) (list []store.Document, err error) {
	err = f.do("List", store.Key{Kind: kind}, func() error { list, err = f.store.List(ctx, kind); return err })
	return list, err
}

// Write is store.Store's.
func (f *Faulty) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (next store.Revision, err error) {
	err = f.do("Write", key, func() error { next, err = f.store.Write(ctx, key, data, revision); return err })
	if err != nil {
		return "", err
	}
	return next, nil
}

// Delete is store.Store's.
func (f *Faulty) Delete(ctx context.Context, key store.Key, revision store.Revision) error {
	return f.do("Delete", key, func() error { return f.store.Delete(ctx, key, revision) })
}

// Holder is store.Store's.
func (f *Faulty) Holder(ctx context.Context, name string) (h *store.Holder, err error) {
	err = f.do("Holder", store.Key{Kind: "locks", Name: name}, func() error { h, err = f.store.Holder(ctx, name); return err })
	return h, err
}

// Lock is store.Store's. A lock that After hides is released.
func (f *Faulty) Lock(ctx context.Context, name string, wait time.Duration) (store.Lock, error) {
	l := &faultyLock{faulty: f, key: store.Key{Kind: "locks", Name: name}}
	err := f.do("Lock", l.key, func() (err error) {
		l.Lock, err = f.store.Lock(ctx, name, wait)
		if err == nil {
			f.mu.Lock()
			f.held = append(f.held, l.Lock)
			f.mu.Unlock()
		}
		return err
	})
	if err != nil {
		if l.Lock != nil {
			err = errors.Join(err, l.Lock.Release())
		}
		return nil, err
	}
	return l, nil
}

// Location is the wrapped store's.
func (f *Faulty) Location() store.Location { return f.store.Location() }

// String is the wrapped store's.
func (f *Faulty) String() string { return f.store.String() }

type faultyLock struct {
	store.Lock
	faulty *Faulty
	key    store.Key
}

func (l *faultyLock) Release() error { return l.faulty.do("Release", l.key, l.Lock.Release) }

func (f *Faulty) do(method string, key store.Key, act func() error) error {
	op, err := f.begin(method, key)
	if err != nil {
		return err
	}
	if err := act(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.call(f.faults.After, op)
}

func (f *Faulty) begin(method string, key store.Key) (Op, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.killed {
		return Op{}, ErrKilled
	}
	counter := method
	if method == "Delete" {
		counter = "Write"
	}
	f.counts[counter]++
	op := Op{Method: method, Key: key, N: f.counts[counter]}
	f.ops = append(f.ops, op)
	return op, f.call(f.faults.Before, op)
}

// call calls a hook; f.mu must be held.
func (f *Faulty) call(hook func(Op) error, op Op) error {
	if f.killed {
		return ErrKilled
	}
	if hook == nil {
		return nil
	}
	err := hook(op)
	if errors.Is(err, ErrKilled) {
		f.killed = true
		for _, l := range f.held {
			err = errors.Join(err, l.Release())
		}
	}
	return err
}
