package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// StateEntry is one object of a Terraform state, and where its warnings go.
type StateEntry[D any] struct {
	declaration.StateResource[D]
	// Older names a newer state that was seen before; empty if there is none.
	Older string
	Warn  func(...reason.Reason)
}

// TakeOver brings a declaration out of a state into the store where the store has
// none or an older one. A newer record wins, and a tombstone refuses. ready completes
// the declaration under its lock, before it is recorded; its error refuses it.
func (l Lifecycle[D]) TakeOver(ctx context.Context, t StateEntry[D], ready func(ctx context.Context, old Stored[D], d D) (D, error)) error {
	if t.Tainted {
		t.Warn(reason.StateTainted(reason.NewForeign(t.Address)))
	}
	if t.Unread != nil {
		return t.Unread
	}
	if err := l.takeOver(ctx, t, ready); err != nil {
		return fmt.Errorf("%s: %w", t.Address, err)
	}
	return nil
}

func (l Lifecycle[D]) takeOver(ctx context.Context, t StateEntry[D], ready func(ctx context.Context, old Stored[D], d D) (D, error)) error {
	old, err := l.Load(ctx, t.Declaration.Key())
	if err != nil {
		if l.reported(ctx, t.Declaration.Key()) {
			return nil
		}
		return err
	}
	if wins, err := l.overrules(ctx, t, old); err != nil || !wins {
		return err
	}
	return l.Locked(ctx, t.Declaration, func(ctx context.Context) error {
		d, err := ready(ctx, old, t.Declaration)
		if err != nil {
			return err
		}
		_, err = l.Save(ctx, old, declaration.Active, d)
		return err
	})
}

// reported reports whether the record is unreadable: listing the kind reports that.
func (l Lifecycle[D]) reported(ctx context.Context, key string) bool {
	docs, err := l.Store.List(ctx, l.kind)
	if err != nil {
		return false
	}
	for _, doc := range docs {
		if doc.Key.Name == key {
			_, err := l.read(doc)
			return err != nil
		}
	}
	return false
}

// overrules reports whether to record the state's declaration. The error says why it must not
// be.
func (l Lifecycle[D]) overrules(ctx context.Context, t StateEntry[D], old Stored[D]) (bool, error) {
	uid, generation := t.Declaration.Identity()
	oldUID, oldGeneration := old.Value.Declaration.Identity()
	tombstone, err := l.Tombstone(ctx, uid)
	switch {
	case err != nil:
		return false, err
	case old.Exists() && oldUID != uid:
		return false, fmt.Errorf("the store %s has another %s with the name %s (uid %s, and the state has %s)", l.Store, l.noun, t.Declaration.Key(), oldUID,
			uid)
	case !old.Exists() && tombstone.Exists():
		return false, fmt.Errorf("this %s (uid %s) was destroyed at %s: the state is older than that", l.noun, uid,
			tombstone.Value.DestroyedAt.Format(time.RFC3339))
	case old.Exists() && oldGeneration > generation:
		t.Warn(reason.StateOlder(reason.NewForeign(t.Address), reason.Count(oldGeneration), reason.Count(generation)))
		return false, nil
	case old.Exists() && (oldGeneration == generation || old.Value.Phase != declaration.Active):
		return false, nil
	case t.Older != "":
		return false, errors.New("the store has no record of it, and " + t.Older)
	}
	return true, nil
}
