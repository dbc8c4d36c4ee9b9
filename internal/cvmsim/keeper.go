package cvmsim

import (
	"sync"
	"time"
)

// keeper lets one caller at a time at a world, and keeps what they change.
type keeper struct {
	clock    func() time.Time
	settings worldSettings // of a fresh world

	mu    sync.Mutex // guards all below
	world *world
	store *stateStore // nil without a state directory
}

// newKeeper makes a world, or takes up the one that a directory keeps; without
// a directory it is in memory alone.
func newKeeper(clock func() time.Time, settings worldSettings, dir string) (*keeper, error) {
	k := &keeper{clock: clock, settings: settings, world: newWorld(clock, settings)}
	if dir == "" {
		return k, nil
	}
	store, err := openState(dir, k.world)
	k.store = store
	return k, err
}

// Now returns the world's time.
func (k *keeper) Now() time.Time {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.world.now()
}

// Look shows the world as it is now.
func (k *keeper) Look(look func(*world)) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.world.advance(k.world.now())
	look(k.world)
}

// Change lets a change happen to the world, and keeps it unless the change
// returns an error.
func (k *keeper) Change(change func(*world) error) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if err := change(k.world); err != nil {
		return err
	}
	if k.store == nil {
		clear(k.world.changed)
		return nil
	}
	return k.store.commit(k.world)
}

// Reset puts a fresh world in the place of the one that is there. Ids are not
// used again.
func (k *keeper) Reset() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	ordinal := k.world.ordinal
	k.world = newWorld(k.clock, k.settings)
	k.world.ordinal = ordinal
	if k.store == nil {
		return nil
	}
	return k.store.replace(k.world)
}

// Close closes the state directory. What changes later is in memory alone.
func (k *keeper) Close() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.store == nil {
		return nil
	}
	err := k.store.close()
	k.store = nil
	return err
}
