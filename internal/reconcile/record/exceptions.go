package record

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Exceptions keeps what persons decided for a while about the things of one kind: a
// document for each of them, by its uid.
type Exceptions[T declaration.Body] struct {
	store store.Store
	kind  store.Kind
}

// Grants are those of the store's budgets.
func Grants(k Repository) Exceptions[declaration.Grants] {
	return Exceptions[declaration.Grants]{k.Store, store.Grants}
}

// Holds are those of the store's pools.
func Holds(k Repository) Exceptions[declaration.Holds] {
	return Exceptions[declaration.Holds]{k.Store, store.Holds}
}

// Of reads those of one uid; the zero value where there are none, as there are before a
// thing has a uid.
func (e Exceptions[T]) Of(ctx context.Context, uid string) (T, error) {
	if uid == "" {
		var none T
		return none, nil
	}
	doc, err := e.load(ctx, uid)
	return doc.Value, err
}

// load reads the exceptions of one UID. A document of another UID is damaged.
func (e Exceptions[T]) load(ctx context.Context, uid string) (Document[T], error) {
	doc, err := Load[T](ctx, e.store, e.kind, uid)
	if err == nil && doc.Exists() {
		err = e.whose(uid, doc.Value)
	}
	return doc, err
}

// whose returns an error if a document has another UID than its name.
func (e Exceptions[T]) whose(uid string, value T) error {
	of, kind := "", ""
	switch v := any(value).(type) {
	case declaration.Grants:
		of, kind = v.BudgetUID, "grants"
	case declaration.Holds:
		of, kind = v.PoolUID, "holds"
	}
	if of == uid {
		return nil
	}
	return &declaration.DamagedError{What: fmt.Sprintf("%s/%s in the store %s", e.kind, uid, e.store), Kind: kind, Reason: fmt.Sprintf("it is of %.40q", of)}
}

// Excepted has the grants or holds of one object, or the error of reading them.
type Excepted[T any] struct {
	Value T
	Err   error
}

// All reads those of all, by uid.
func (e Exceptions[T]) All(ctx context.Context) (map[string]Excepted[T], error) {
	docs, err := e.store.List(ctx, e.kind)
	if err != nil {
		return nil, err
	}
	all := make(map[string]Excepted[T], len(docs))
	for _, doc := range docs {
		value, err := DecodeListed[T](ctx, e.store, doc)
		if err == nil {
			err = e.whose(doc.Key.Name, value)
		}
		all[doc.Key.Name] = Excepted[T]{Value: value, Err: err}
	}
	return all, nil
}

// Change changes the exceptions of one UID. It repeats change if another process wrote them.
func (e Exceptions[T]) Change(ctx context.Context, uid string, change func(T) (T, error)) (T, error) {
	for range 10 {
		doc, err := e.load(ctx, uid)
		if err != nil {
			return doc.Value, err
		}
		value, err := change(doc.Value)
		if err != nil || Same(doc.Value, value) {
			return doc.Value, err
		}
		saved, err := Save(ctx, e.store, e.kind, uid, doc, value)
		if !errors.Is(err, store.ErrConflict) {
			return saved.Value, err
		}
	}
	var none T
	return none, fmt.Errorf("%s/%s in the store %s was written by others again and again: try again", e.kind, uid, e.store)
}

// Rest is a thing with unreported events: its UID, and a function that removes reported ones
// from its document.
type Rest[T any] struct {
	UID             string
	WithoutReported func(T) T
}

// ReportRest reports to the history what an outbox took up of these, and then leaves that
// out of their documents. If it can't, it only warns.
func (e Exceptions[T]) ReportRest(ctx context.Context, k Repository, o *Outbox, now func() time.Time, list []Rest[T], warn func(...reason.Reason)) {
	if len(list) == 0 {
		return
	}
	k.ReportAfter(ctx, o, now, warn)
	for _, rest := range list {
		if _, err := e.Change(ctx, rest.UID, func(v T) (T, error) { return rest.WithoutReported(v), nil }); err != nil {
			warn(reason.Explain(err))
		}
	}
}

// Forget removes those of a thing that is destroyed.
func (e Exceptions[T]) Forget(ctx context.Context, uid string) error {
	doc, err := e.store.Read(ctx, store.Key{Kind: e.kind, Name: uid})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	return Remove(ctx, e.store, e.kind, uid, doc.Revision)
}
