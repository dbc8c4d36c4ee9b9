package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Options define how to open a store.
type Options struct {
	// Create creates the store if there is none, and its namespace too.
	Create bool
	// Command describes the holder of a lock to others, such as "gpupool reconcile". Default: the
	// name of the program.
	Command string
	// LeaseDuration is how long a lock outlives its holder, in whole seconds and at least five.
	// RenewEvery is how often a living holder renews it. Default: 60 s and 20 s.
	LeaseDuration, RenewEvery time.Duration
	// Moving opens the store whatever its mark.
	Moving bool
	// MarkFor is how long a process may write without reading the mark again. Default: 10 s.
	MarkFor time.Duration
}

// Store is a store in a namespace.
type Store struct {
	*layout
	locks
}

var _ store.Store = (*Store)(nil)

// Read returns the document of a key, or store.ErrNotFound.
func (s *Store) Read(ctx context.Context, key store.Key) (store.Document, error) {
	if err := check(ctx, key); err != nil {
		return store.Document{}, err
	}
	o, err := s.get(ctx, key)
	if apierrors.IsNotFound(err) {
		return store.Document{}, s.absent(ctx, key)
	}
	if err != nil {
		return store.Document{}, s.explain("get", key, err)
	}
	d, err := o.document(key)
	if err != nil {
		return store.Document{}, s.damaged(key, err)
	}
	return d, nil
}

func (s *Store) get(ctx context.Context, key store.Key) (o object, err error) {
	err = retry(ctx, func(ctx context.Context) error {
		o, err = s.of(key.Kind).get(ctx, documentName(key))
		return err
	})
	return o, err
}

// List returns every document of a kind, sorted by name, as they were at one time. It ignores
// copies under other names. A damaged document has no Data, and one that lost its label is found by
// its name.
func (s *Store) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if err := kind.Validate(); err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	list, err := s.list(ctx, kind)
	if err == nil && len(list) == 0 {
		err = s.present(ctx) // the API lists a missing namespace as an empty one
	}
	if err != nil {
		return nil, fmt.Errorf("cannot list %s in %s: %w", kind, s, err)
	}
	return list, nil
}

// Write replaces the document of a key if its revision is still the given one. If the response was
// lost and the outcome cannot be read, the error says so: the document may have been written or
// not.
func (s *Store) Write(ctx context.Context, key store.Key, data []byte, revision store.Revision) (store.Revision, error) {
	if err := check(ctx, key); err != nil {
		return "", err
	}
	o, err := newObject(key, data)
	if err != nil {
		return "", fmt.Errorf("%s: %w", s, err)
	}
	if err := s.refuseMoved(ctx); err != nil {
		return "", err
	}
	if revision != "" && !plausible(revision) {
		return "", s.explain("update", key, store.ErrConflict)
	}
	written, verb, err := s.put(ctx, key, o, revision)
	switch {
	case err == nil:
		return store.Revision(written.ResourceVersion), nil
	case noNamespace(err):
		return "", s.noStore()
	case !lostRace(err) && !uncertain(err):
		return "", s.explain(verb, key, err)
	}
	return s.settle(ctx, key, o, verb, err)
}

func (s *Store) put(ctx context.Context, key store.Key, o object, revision store.Revision) (written object, verb string, err error) {
	in := s.of(key.Kind)
	verb, send := "create", in.create
	if revision != "" {
		verb, send, o.ResourceVersion = "update", in.update, string(revision)
	}
	err = retry(ctx, func(ctx context.Context) error {
		written, err = send(ctx, o)
		return err
	})
	return written, verb, err
}

// settle finds out whether a write took effect whose response was lost, or which lost a race,
// perhaps against itself.
func (s *Store) settle(ctx context.Context, key store.Key, o object, verb string, cause error) (store.Revision, error) {
	now, err := s.get(ctx, key)
	switch {
	case err == nil && now.Annotations[writeAnnotation] == o.Annotations[writeAnnotation]:
		return store.Revision(now.ResourceVersion), nil
	case lostRace(cause) && err == nil:
		return "", s.explain(verb, key, store.ErrConflict)
	case lostRace(cause) && apierrors.IsNotFound(err):
		if err := s.present(ctx); err != nil {
			return "", err
		}
		return "", s.explain(verb, key, store.ErrConflict)
	case lostRace(cause):
		return "", s.explain("get", key, err)
	}
	return "", fmt.Errorf("%w (it is not known whether it was written: the next run finds out)", s.explain(verb, key, cause))
}

// Delete removes the document if its revision is still the given one.
func (s *Store) Delete(ctx context.Context, key store.Key, revision store.Revision) error {
	if err := check(ctx, key); err != nil {
		return err
	}
	if err := s.refuseMoved(ctx); err != nil {
		return err
	}
	version := string(revision)
	o := metav1.DeleteOptions{Preconditions: &metav1.Preconditions{ResourceVersion: &version}}
	made := 0
	err := retry(ctx, func(ctx context.Context) error {
		made++
		return s.of(key.Kind).remove(ctx, documentName(key), o)
	})
	switch {
	case err == nil, made > 1 && apierrors.IsNotFound(err): // an earlier try, whose response was lost, deleted it
		return nil
	case apierrors.IsNotFound(err):
		return s.absent(ctx, key)
	case lostRace(err):
		return s.explain("delete", key, store.ErrConflict)
	}
	return s.explain("delete", key, err)
}

// check must come first in every operation on a document.
func check(ctx context.Context, key store.Key) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return key.Validate()
}

// plausible reports whether a text can be a resourceVersion, a decimal number (KEP-5504). The API
// server would reject any other text as wrong rather than as old, and would accept zero for any
// version.
func plausible(revision store.Revision) bool {
	return strings.Trim(string(revision), "0123456789") == "" && strings.Trim(string(revision), "0") != ""
}

// absent returns why there is no document: the store has none, or there is no store.
func (s *Store) absent(ctx context.Context, key store.Key) error {
	if err := s.present(ctx); err != nil {
		return err
	}
	return s.explain("get", key, store.ErrNotFound)
}

func (s *Store) damaged(key store.Key, err error) error {
	return fmt.Errorf("%s in %s: %s is damaged: %w", key, s, s.object(key), err)
}

func (s *Store) explain(verb string, key store.Key, err error) error {
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("%s in %s: %w", key, s, err)
	}
	return fmt.Errorf("%s in %s: %w", key, s, kubeclient.Wrap(verb, s.object(key), err))
}
