package snapshot

import (
	"maps"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

// Status is the state of the objects of a kind. Readers share it, and what they derive from it: do
// not change either.
type Status struct {
	reconcile.StatusReport

	mu      sync.Mutex
	derived map[any]*derivation
}

// derivation is a value that is made from a status, once.
type derivation struct {
	renew func(*Status) (any, error) // makes it from the next status; nil if only a reader can
	mu    sync.Mutex
	value any  // nil until it is made
	used  bool // by a reader
}

// derivedAtMost is the most values that a status keeps.
const derivedAtMost = 200

// Derive returns what derive makes of a status, made once for each key. Concurrent callers wait for
// the same one. After an error the next caller tries again.
func Derive[T any](s *Status, key any, derive func(*Status) (T, error)) (T, error) {
	return use(s, s.derivation(key, nil), derive)
}

// DeriveAhead is Derive of a value that any reader may use. If readers used it, it is made from the next
// status before readers get that.
func DeriveAhead[T any](s *Status, key any, derive func(*Status) (T, error)) (T, error) {
	return use(s, s.derivation(key, func(s *Status) (any, error) { return derive(s) }), derive)
}

func use[T any](s *Status, d *derivation, derive func(*Status) (T, error)) (T, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.used = true
	if value, ok := d.value.(T); ok {
		return value, nil
	}
	value, err := derive(s)
	if err == nil {
		d.value = value
	}
	return value, err
}

func (s *Status) derivation(key any, renew func(*Status) (any, error)) *derivation {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.derived[key]; d != nil {
		return d
	}
	if s.derived == nil || len(s.derived) >= derivedAtMost {
		s.derived = map[any]*derivation{}
	}
	d := &derivation{renew: renew}
	s.derived[key] = d
	return d
}

// renewed makes what readers of the last status used.
func (s *Status) renewed(last *Status) *Status {
	if last == nil {
		return s
	}
	last.mu.Lock()
	derived := maps.Clone(last.derived)
	last.mu.Unlock()
	for key, d := range derived {
		d.mu.Lock()
		used := d.used && d.renew != nil
		d.mu.Unlock()
		if !used {
			continue
		}
		if value, err := d.renew(s); err == nil {
			s.derivation(key, d.renew).value = value
		}
	}
	return s
}
