package snapshot

import (
	"context"
	"errors"
	"sync"
	"time"
)

// ErrBusy says that an observation takes longer than a caller waits.
var ErrBusy = errors.New("the observation takes longer than usual: try again")

// ages are how old a value is used. A value that is older than fresh is built again, while callers
// still get it; one that is older than usable is waited for.
type ages struct{ fresh, usable time.Duration }

// shared is a value that concurrent callers share. It is built only on demand.
type shared[T any] struct {
	ages
	build func(context.Context) (T, error)

	mu     sync.Mutex
	flight *flight[T] // nil if none is under way
	last   *flight[T] // that ended last
}

// flight is one build.
type flight[T any] struct {
	began time.Time
	done  chan struct{}
	value T
	err   error
}

// errorsAtMost is how old an error is used at most.
const errorsAtMost = 2 * time.Second

// buildAtMost limits a build.
const buildAtMost = time.Minute

// get returns the value. The context limits the wait, and not the build.
func (s *shared[T]) get(ctx context.Context) (T, error) { return s.within(ctx, s.ages) }

// within is get with other ages.
func (s *shared[T]) within(ctx context.Context, a ages) (none T, err error) {
	s.mu.Lock()
	age := a.usable + 1
	if s.last != nil {
		age = time.Since(s.last.began)
		if s.last.err != nil && (age > errorsAtMost || errors.Is(s.last.err, ErrBusy)) { // another reader may have a turn
			age = a.usable + 1
		}
	}
	if age > a.fresh {
		s.start(ctx)
	}
	last, f := s.last, s.flight
	s.mu.Unlock()
	if age <= a.usable {
		return last.value, last.err
	}
	select {
	case <-f.done:
		return f.value, f.err
	case <-ctx.Done():
		return none, errors.Join(ErrBusy, ctx.Err())
	}
}

// current returns a value whose build began after the call, so that it has all earlier changes.
// Concurrent callers share it.
func (s *shared[T]) current(ctx context.Context) (none T, err error) {
	for asked := time.Now(); ; {
		s.mu.Lock()
		f := s.start(ctx)
		s.mu.Unlock()
		select {
		case <-f.done:
		case <-ctx.Done():
			return none, errors.Join(ErrBusy, ctx.Err())
		}
		if !f.began.Before(asked) {
			return f.value, f.err
		}
	}
}

// start returns the build under way, or begins one. The lock must be held.
func (s *shared[T]) start(ctx context.Context) *flight[T] {
	if s.flight == nil {
		s.flight = &flight[T]{began: time.Now(), done: make(chan struct{})}
		go s.fly(context.WithoutCancel(ctx), s.flight)
	}
	return s.flight
}

// latest returns the last value; the zero value if there is none.
func (s *shared[T]) latest() (none T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.last == nil {
		return none
	}
	return s.last.value
}

func (s *shared[T]) fly(ctx context.Context, f *flight[T]) {
	ctx, cancel := context.WithTimeout(ctx, buildAtMost)
	defer cancel()
	f.value, f.err = s.build(ctx)
	s.mu.Lock()
	s.last, s.flight = f, nil
	s.mu.Unlock()
	close(f.done)
}

// keyed are shared values by key. At most a few are built at once, and one for each reader, so that a
// reader with many questions does not keep others waiting.
type keyed[T any] struct {
	ages
	atOnce chan struct{}

	mu      sync.Mutex
	values  map[string]*shared[T]
	readers map[string]*turns
}

// turns are those of a reader.
type turns struct {
	building chan struct{} // has the build under way
	pending  int           // including that
}

// pendingAtMost is the most builds of a reader that are under way or wait.
const pendingAtMost = 8

func newKeyed[T any](a ages, atOnce int) *keyed[T] {
	return &keyed[T]{ages: a, atOnce: make(chan struct{}, atOnce), values: map[string]*shared[T]{}, readers: map[string]*turns{}}
}

// keysAtMost is the most values that are kept.
const keysAtMost = 100

// get returns the value of a key. If it must be built, that is a turn of the reader.
func (k *keyed[T]) get(ctx context.Context, reader, key string, build func(context.Context) (T, error)) (T, error) {
	k.mu.Lock()
	s := k.values[key]
	if s == nil {
		if len(k.values) >= keysAtMost {
			clear(k.values)
		}
		s = &shared[T]{ages: k.ages}
		s.build = func(ctx context.Context) (none T, err error) {
			done, err := k.turn(ctx)
			if err != nil {
				return none, err
			}
			defer done()
			return build(ctx)
		}
		k.values[key] = s
	}
	k.mu.Unlock()
	return s.get(context.WithValue(ctx, readerKey{}, reader))
}

// readerKey is the key of the reader in the context of a build.
type readerKey struct{}

// turn waits for the turn of a reader. The caller must call done.
func (k *keyed[T]) turn(ctx context.Context) (done func(), err error) {
	reader, _ := ctx.Value(readerKey{}).(string)
	k.mu.Lock()
	of := k.readers[reader]
	if of == nil {
		of = &turns{building: make(chan struct{}, 1)}
		k.readers[reader] = of
	}
	if of.pending >= pendingAtMost {
		k.mu.Unlock()
		return nil, ErrBusy
	}
	of.pending++
	k.mu.Unlock()
	leave := func() {
		k.mu.Lock()
		defer k.mu.Unlock()
		if of.pending--; of.pending == 0 {
			delete(k.readers, reader)
		}
	}
	for n, slot := range []chan struct{}{of.building, k.atOnce} {
		select {
		case slot <- struct{}{}:
		case <-ctx.Done():
			if n > 0 {
				<-of.building
			}
			leave()
			return nil, ctx.Err()
		}
	}
	return func() {
		<-k.atOnce
		<-of.building
		leave()
	}, nil
}
