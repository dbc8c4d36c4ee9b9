// Package record is the lifecycle of a declared thing, shared by all kinds. It is its record in
// the store, the locks that guard it, the checks against Terraform state, and the tombstone
// after it. It also keeps the document in which the kinds meet, a budget's status: budgets
// write it, and the gates of pools read it.
//
// It exports more than 40 names, since it has all that the kinds' packages share about the
// store. Documents are in document.go and repository.go, the lifecycle in creation.go,
// deletion.go, state.go and take_over.go. Errors are in errors.go, missing.go and orphans.go,
// and unreported events in outbox.go.
package record

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Declaration has the methods that a record needs of a declaration.
type Declaration[D any] interface {
	// Key is its name in the store, Object its name in reports and locks.
	Key() string
	Object() string
	// Identity is its uid, and the generation of its declaration.
	Identity() (uid string, generation int64)
	// WithIdentity is the declaration with this uid and generation.
	WithIdentity(uid string, generation int64) D
}

// Lifecycle keeps the records of one kind:
//
//	none → creating → active → deleting → none, with a tombstone
//
// A kind that waits for nothing starts as active. Each change is a compare-and-swap under
// the object's lock.
//
// A record is read in five ways:
//
//	           by        if it is another object's   if there is none
//	Load       name      is returned                 one without a revision
//	Find       name      is returned                 *AbsentError
//	Known      the uid   its tombstone or error      its tombstone, if any
//	Deletable  the uid   its tombstone or error      its tombstone, or *LostError
//	Still      the uid   nil                         nil, also in another phase
//
// A pool writes its tombstone at the beginning of its deletion, and a budget at the end.
// A pool's deletion takes minutes, in which its instances terminate. Its tombstone keeps a
// stale state from creating it again, and makes runs find instances that a kill left. A
// budget's deletion undoes its enforcement, which may fail. It counts as destroyed once
// nothing of it is in force.
type Lifecycle[D Declaration[D]] struct {
	refusals[D]
	kind      store.Kind
	tombstone func(d D, now time.Time) declaration.Tombstone
	decode    func(what string, data []byte) (declaration.Record[D], error)
	encode    func(declaration.Record[D]) ([]byte, error)
}

// Stored is a record as it was read.
type Stored[D any] = Document[declaration.Record[D]]

// Load reads the record of a name; one that is not there has no revision.
func (l Lifecycle[D]) Load(ctx context.Context, key string) (Stored[D], error) {
	doc, err := l.Store.Read(ctx, store.Key{Kind: l.kind, Name: key})
	if errors.Is(err, store.ErrNotFound) {
		return Stored[D]{}, nil
	}
	if err != nil {
		return Stored[D]{}, err
	}
	value, err := l.read(doc)
	return Stored[D]{Value: value, Revision: doc.Revision}, err
}

func (l Lifecycle[D]) read(doc store.Document) (declaration.Record[D], error) {
	value, err := l.decode(DocumentName(l.Store, doc.Key), doc.Data)
	if err == nil && value.Declaration.Key() != doc.Key.Name {
		err = fmt.Errorf("the record %s holds the declaration of %s", doc.Key, value.Declaration.Key())
	}
	return value, err
}

// Listed is one record of the store, or what is wrong with it.
type Listed[D any] struct {
	Key    string
	Record declaration.Record[D]
	Err    error
}

// List reads all records of the kind, by name. An unreadable record fails only itself.
func (l Lifecycle[D]) List(ctx context.Context) ([]Listed[D], error) {
	docs, err := l.Store.List(ctx, l.kind)
	if err != nil {
		return nil, err
	}
	list := make([]Listed[D], len(docs))
	for n, doc := range docs {
		list[n].Key = doc.Key.Name
		if doc, list[n].Err = whole(ctx, l.Store, doc); list[n].Err == nil {
			list[n].Record, list[n].Err = l.read(doc)
		}
	}
	return list, nil
}

// Save writes a record in the place of the one that was read.
func (l Lifecycle[D]) Save(ctx context.Context, old Stored[D], phase declaration.Phase, d D) (Stored[D], error) {
	value := declaration.Record[D]{Phase: phase, Declaration: d, UpdatedAt: l.Now(), UpdatedBy: l.Actor}
	data, err := l.encode(value)
	if err != nil {
		return old, err
	}
	revision, err := write(ctx, l.Store, l.kind, d.Key(), data, old.Revision)
	if err != nil {
		return old, err
	}
	return Stored[D]{Value: value, Revision: revision}, nil
}

// Locked runs do under the lock of what is declared. The context of do ends when the
// lock is lost.
func (l Lifecycle[D]) Locked(ctx context.Context, d D, do func(ctx context.Context) error) error {
	return l.WithLock(ctx, d.Object(), l.LockTimeout, do)
}

// Find is the declaration of a name. The error is *AbsentError where there is none.
func (l Lifecycle[D]) Find(ctx context.Context, key string) (Stored[D], error) {
	r, err := l.Load(ctx, key)
	if err != nil || r.Exists() {
		return r, err
	}
	absent := &AbsentError{Title: l.title, Key: key, Store: l.Store.String()}
	if docs, err := l.Store.List(ctx, l.kind); err == nil {
		for _, doc := range docs {
			absent.Known = append(absent.Known, doc.Key.Name)
		}
	}
	return r, absent
}

// KeyOf is the key of the one with this name, which may have its region or namespace
// before it. The error names what there is.
func (l Lifecycle[D]) KeyOf(ctx context.Context, name string) (string, error) {
	docs, err := l.Store.List(ctx, l.kind)
	if err != nil {
		return "", err
	}
	var found []string
	for _, doc := range docs {
		key := doc.Key.Name
		if key == name || key[strings.LastIndexByte(key, '/')+1:] == name {
			found = append(found, key)
		}
	}
	switch len(found) {
	case 0:
		_, err := l.Find(ctx, name)
		return "", err
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("the name %[2]s of a %[1]s is ambiguous: use %[3]s", l.noun, name, strings.Join(found, " or "))
}

// Change is the declaration to record in the place of an active one: d with the next
// generation, or the recorded one where nothing differs. d has the uid and the
// generation that it was planned against. It is refused where the record has another
// uid or generation, or is being deleted.
func (l Lifecycle[D]) Change(r Stored[D], d D) (changed D, differs bool, err error) {
	old := r.Value.Declaration
	uid, generation := d.Identity()
	oldUID, oldGeneration := old.Identity()
	switch {
	case oldUID != uid:
		return d, false, l.another(d, oldUID, fmt.Sprintf("Give this %s another name, or use the store that it was created with", l.noun))
	case r.Value.Phase == declaration.Deleting:
		return d, false, errors.New(l.Unfinished(d))
	case oldGeneration != generation:
		return d, false, l.stale(r, d)
	case Same(old, d):
		return old, false, nil
	}
	return d.WithIdentity(uid, generation+1), true, nil
}

// Known returns the record of exactly this thing, or else its tombstone. With a tombstone, the
// record is that of another thing which has the name now, if any. If the store has neither, the
// error is that of Foreign.
func (l Lifecycle[D]) Known(ctx context.Context, d D) (Stored[D], Document[declaration.Tombstone], error) {
	r, err := l.Load(ctx, d.Key())
	if err != nil || r.Exists() && sameUID(r.Value.Declaration, d) {
		return r, Document[declaration.Tombstone]{}, err
	}
	uid, _ := d.Identity()
	tombstone, err := l.Tombstone(ctx, uid)
	if err == nil && !tombstone.Exists() {
		err = l.Foreign(r, d)
	}
	return r, tombstone, err
}

func sameUID[D Declaration[D]](a, b D) bool {
	x, _ := a.Identity()
	y, _ := b.Identity()
	return x == y
}

// Still returns the record of exactly this thing, if its phase is still the same; nil if it
// changed.
func (l Lifecycle[D]) Still(ctx context.Context, d D, phase declaration.Phase) (*Stored[D], error) {
	r, err := l.Load(ctx, d.Key())
	if err != nil || !r.Exists() || r.Value.Phase != phase || !sameUID(r.Value.Declaration, d) {
		return nil, err
	}
	return &r, nil
}

// WriteTombstone writes the tombstone of a thing, unless it has one.
func (l Lifecycle[D]) WriteTombstone(ctx context.Context, d D, now time.Time) error {
	uid, _ := d.Identity()
	tombstone, err := l.Tombstone(ctx, uid)
	if err != nil || tombstone.Exists() {
		return err
	}
	_, err = Save(ctx, l.Store, store.Tombstones, uid, tombstone, l.tombstone(d, now.UTC().Truncate(time.Second)))
	return err
}

// Remove removes a record, which ends the life of the thing.
func (l Lifecycle[D]) Remove(ctx context.Context, r Stored[D]) error {
	return Remove(ctx, l.Store, l.kind, r.Value.Declaration.Key(), r.Revision)
}

// CheckNotDestroyed refuses a declaration of what was destroyed.
func (l Lifecycle[D]) CheckNotDestroyed(ctx context.Context, d D) error {
	uid, _ := d.Identity()
	tombstone, err := l.Tombstone(ctx, uid)
	if err == nil && tombstone.Exists() {
		err = l.Destroyed(d, tombstone.Value.DestroyedAt)
	}
	return err
}
