package move

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Cancel makes a store usable again after an interrupted move. It reads the mark under the lock: a
// move that finishes just before is not undone.
func Cancel(ctx context.Context, from store.Movable, to store.Location) (err error) {
	lock, err := from.Lock(ctx, runLock, 0)
	if err != nil {
		return fmt.Errorf("%w: nothing was canceled; try again later", err)
	}
	defer func() { err = errors.Join(err, lock.Release()) }()
	mark, err := from.Mark(ctx)
	if err != nil {
		return err
	}
	if mark == store.MovingTo(to) {
		return from.SetMark(ctx, store.Mark{})
	}
	if err := mark.Refuses(from); err != nil {
		return fmt.Errorf("no move to %s is in progress: %w", to, err)
	}
	return fmt.Errorf("no move is in progress: the store %s is in use", from)
}
