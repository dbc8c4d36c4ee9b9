package record

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Document is a document of the store, with the revision that it was read at.
type Document[T any] struct {
	Value    T
	Revision store.Revision
}

// Exists reports whether the document was there.
func (d Document[T]) Exists() bool { return d.Revision != "" }

// DocumentName returns the name of a document in errors.
func DocumentName(s store.Store, key store.Key) string {
	return fmt.Sprintf("%s in the store %s", key, s)
}

// Load reads a document; one that is not there has no revision.
func Load[T declaration.Body](ctx context.Context, s store.Store, kind store.Kind, name string) (Document[T], error) {
	doc, err := s.Read(ctx, store.Key{Kind: kind, Name: name})
	if errors.Is(err, store.ErrNotFound) {
		return Document[T]{}, nil
	}
	if err != nil {
		return Document[T]{}, err
	}
	value, err := decode[T](DocumentName(s, doc.Key), doc.Data)
	return Document[T]{Value: value, Revision: doc.Revision}, err
}

// DecodeListed decodes a listed document. If it was listed without contents, it is read singly,
// which returns the reason.
func DecodeListed[T declaration.Body](ctx context.Context, s store.Store, doc store.Document) (T, error) {
	doc, err := whole(ctx, s, doc)
	if err != nil {
		var none T
		return none, err
	}
	return decode[T](DocumentName(s, doc.Key), doc.Data)
}

func whole(ctx context.Context, s store.Store, doc store.Document) (store.Document, error) {
	if len(doc.Data) > 0 {
		return doc, nil
	}
	return s.Read(ctx, doc.Key)
}

// Save writes a document in the place of the one that was read.
func Save[T declaration.Body](ctx context.Context, s store.Store, kind store.Kind, name string, old Document[T], value T) (Document[T], error) {
	data, err := declaration.Encode(value)
	if err != nil {
		return old, err
	}
	revision, err := write(ctx, s, kind, name, data, old.Revision)
	if err != nil {
		return old, err
	}
	return Document[T]{Value: value, Revision: revision}, nil
}

func write(ctx context.Context, s store.Store, kind store.Kind, name string, data []byte, revision store.Revision) (store.Revision, error) {
	revision, err := s.Write(ctx, store.Key{Kind: kind, Name: name}, data, revision)
	if err != nil {
		return "", fmt.Errorf("writing to the store: %w", err)
	}
	return revision, nil
}

// Remove removes a document, which may be gone already.
func Remove(ctx context.Context, s store.Store, kind store.Kind, name string, revision store.Revision) error {
	err := s.Delete(ctx, store.Key{Kind: kind, Name: name}, revision)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}

// Same reports whether two values have the same JSON.
func Same[T any](a, b T) bool {
	x, errA := json.Marshal(a)
	y, errB := json.Marshal(b)
	return errA == nil && errB == nil && bytes.Equal(x, y)
}
