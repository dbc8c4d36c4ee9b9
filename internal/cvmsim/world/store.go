package world

import (
	"sync"
	"time"
)

// Store serializes access to a world, and stores its changes.
type Store struct {
	clock    func() time.Time
	settings Settings // of a new world

	mu    sync.Mutex // guards the fields below
	world *World
	files *stateStore // nil without a state directory
}

// NewStore returns a new world, or loads one from a directory; without a directory it is in memory
// only.
func NewStore(clock func() time.Time, settings Settings, dir string) (*Store, error) {
	s := &Store{clock: clock, settings: settings, world: newWorld(clock, settings)}
	if dir == "" {
		return s, nil
	}
	files, err := openState(dir, s.world)
	s.files = files
	return s, err
}

// Now returns the world's time.
func (s *Store) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.world.Now()
}

// Read reads the world as of now.
func (s *Store) Read(read func(*World)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.Advance(s.world.Now())
	read(s.world)
}

// Change changes the world, and stores the change unless it returns an error.
func (s *Store) Change(change func(*World) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := change(s.world); err != nil {
		return err
	}
	if s.files == nil {
		clear(s.world.changes.keys)
		return nil
	}
	return s.files.commit(s.world)
}

// Reset replaces the world with a new one. IDs are not reused.
func (s *Store) Reset() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	ordinal := s.world.general.Ordinal
	s.world = newWorld(s.clock, s.settings)
	s.world.general.Ordinal = ordinal
	if s.files == nil {
		return nil
	}
	return s.files.replace(s.world)
}

// Close closes the state directory. Later changes are in memory only.
func (s *Store) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.files == nil {
		return nil
	}
	err := s.files.close()
	s.files = nil
	return err
}
