package world

import (
	"sync"
	"time"
)

// Keeper lets one caller at a time at a world, and keeps what they change.
type Keeper struct {
	clock    func() time.Time
	settings Settings // of a fresh world

	mu    sync.Mutex // guards all below
	world *World
	store *stateStore // nil without a state directory
}

// NewKeeper makes a world, or takes up the one that a directory keeps; without
// a directory it is in memory alone.
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

// Look shows the world as it is now.
func (k *Keeper) Look(look func(*World)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.world.Advance(k.world.Now())
	look(k.world)
}

// Change lets a change happen to the world, and writes it down unless it
// returns an error.
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

// Reset puts a fresh world in the place of the one that is there. Ids are not
// used again.
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

// Close closes the state directory. What changes later is in memory alone.
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
