package kubernetes

import (
	"context"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Remains is a namespace with the documents of a store that lost its description.
type Remains struct{ store *Store }

var _ store.Remains = (*Remains)(nil)

// OpenRemains opens a namespace that need not be a store. It makes no call yet.
func OpenRemains(cluster *kubeclient.Client, namespace string) (*Remains, error) {
	s, err := at(cluster, namespace, Options{})
	if err != nil {
		return nil, err
	}
	return &Remains{s}, nil
}

// String names the place as the flag --store does.
func (r *Remains) String() string { return r.store.String() }

// List returns every document of a kind, sorted by name.
func (r *Remains) List(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	if err := kind.Validate(); err != nil {
		return nil, err
	}
	list, err := r.store.list(ctx, kind)
	if err != nil {
		return nil, fmt.Errorf("cannot list %s in %s: %w", kind, r.store, err)
	}
	return list, nil
}

// Strange returns the objects with documents of a kind that this gpupool does not know. Other
// objects of the namespace do not matter.
func (r *Remains) Strange(ctx context.Context) ([]string, error) {
	s := r.store
	var names []string
	for _, in := range []collection{s.maps, s.secrets} {
		o := metav1.ListOptions{LabelSelector: kindLabel + "," + otherKindsSelector(), Limit: pageSize}
		page, _, err := s.page(ctx, in, o)
		if err != nil {
			return nil, fmt.Errorf("cannot list the contents of %s: %w", s, err)
		}
		for _, found := range page {
			names = append(names, in.resource()+" "+s.location.Namespace+"/"+found.Name)
		}
	}
	return names, nil
}

// Describe writes the store's description if there is none.
func (r *Remains) Describe(ctx context.Context) error {
	s := r.store
	if err := s.describe(ctx); err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot describe the store %s: %w", s, kubeclient.Wrap("create", s.layoutPath(), err))
	}
	return s.present(ctx)
}
