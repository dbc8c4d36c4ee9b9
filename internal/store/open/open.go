// Package open opens a store at its location, with the right backend. Only this package knows all
// backends.
package open

import (
	"context"
	"fmt"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// Options define how to open a store.
type Options struct {
	// Create creates the store, and the namespace for it, if there is none.
	Create bool
	// Command describes the holder of a lock to others, such as "gpupool reconcile".
	Command string
	// Kubernetes connects to the cluster of a store in a namespace. It is not called for a store in
	// a directory.
	Kubernetes func() (*kubeclient.Client, error)
	// moving opens the store whatever its mark.
	moving bool
}

// Store opens the store at a location. If there is none the error wraps store.ErrNoStore, unless
// Create is set.
func Store(ctx context.Context, l store.Location, o Options) (store.Store, error) {
	switch l.Backend {
	case store.Directory:
		s, err := directory.Open(l.Path, directory.Options{Create: o.Create, Command: o.Command, Moving: o.moving})
		if err != nil {
			return nil, err
		}
		return s, nil
	case store.Kubernetes:
		return inNamespace(ctx, l, o)
	}
	return nil, fmt.Errorf("the store %q is of an unknown kind: a store is directory:DIR or kubernetes:NAMESPACE", l)
}

// Movable opens the store at a location to move it, or as the target of a move, whatever its mark.
func Movable(ctx context.Context, l store.Location, o Options) (store.Movable, error) {
	o.moving = true
	s, err := Store(ctx, l, o)
	if err != nil {
		return nil, err
	}
	movable, ok := s.(store.Movable)
	if !ok {
		return nil, fmt.Errorf("the store %s cannot be moved", l)
	}
	return movable, nil
}

// Remains opens a location, which need not be a store, to find the documents of one.
func Remains(l store.Location, o Options) (store.Remains, error) {
	if l.Backend == store.Directory {
		r, err := directory.OpenRemains(l.Path)
		if err != nil {
			return nil, err
		}
		return r, nil
	}
	client, err := connect(l, o)
	if err != nil {
		return nil, err
	}
	r, err := kubernetes.OpenRemains(client, l.Namespace)
	if err != nil {
		return nil, err
	}
	return r, nil
}

func inNamespace(ctx context.Context, l store.Location, o Options) (store.Store, error) {
	client, err := connect(l, o)
	if err != nil {
		return nil, err
	}
	s, err := kubernetes.Open(ctx, client, l.Namespace, kubernetes.Options{Create: o.Create, Command: o.Command, Moving: o.moving})
	if err != nil {
		return nil, err
	}
	return s, nil
}

func connect(l store.Location, o Options) (*kubeclient.Client, error) {
	if o.Kubernetes == nil {
		return nil, fmt.Errorf("the store %s needs a cluster, and none is configured here", l)
	}
	client, err := o.Kubernetes()
	if err != nil {
		return nil, fmt.Errorf("cannot open the store %s: %w", l, err)
	}
	return client, nil
}
