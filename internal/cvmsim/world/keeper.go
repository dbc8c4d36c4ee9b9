package world

import (
	"sync"
	"time"
)

// Keeper serializes access to a world, and stores its changes.
type Keeper struct {
	clock    func() time.Time
	settings Settings // of a new world

	mu    sync.Mutex // guards the fields below
	world *World
	store *stateStore // nil without a state directory
}

// NewKeeper returns a new world, or loads one from a directory; without a directory it is in memory
// only.
func NewKeeper(clock func() time.Time, settings Settings, dir string) (*Keeper, error) {
	k := &Keeper{clock: clock, settings: settings, world: newWorld(clock, settings)}
	if dir == "" {
		return k, nil
	}
	store, err := openState(dir, k.world)
	k.store = store
	return k, err
}

// Now returns the world's time.
func (k *Keeper) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.world.Now()
}

// Look reads the world as of now.
func (k *Keeper) Look(look func(*World)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.world.Advance(k.world.Now())
	look(k.world)
}

// Change changes the world, and stores the change unless it returns an error.
func (k *Keeper) Change(change func(*World) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := change(k.world); err != nil {
		return err
	}
	if k.store == nil {
		clear(k.world.changes.keys)
		return nil
	}
	return k.store.commit(k.world)
}

// Reset replaces the world with a new one. IDs are not reused.
func (k *Keeper) Reset() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ordinal := k.world.general.Ordinal
	k.world = newWorld(k.clock, k.settings)
	k.world.general.Ordinal = ordinal
	if k.store == nil {
		return nil
	}
	return k.store.replace(k.world)
}

// Close closes the state directory. Later changes are in memory only.
func (k *Keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		return nil
	}
	err := k.store.close()
	k.store = nil
	return err
}
