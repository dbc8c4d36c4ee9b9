package kubernetes

import (
	"context"
	"fmt"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// pageSize is the number of objects that a list requests at first. They have up to a mebibyte each.
// While pages are smaller than smallPage, the next one is twice as large, up to largestPage.
const (
	pageSize    = 50
	largestPage = 800
	smallPage   = 2 << 20 // bytes
)

// listings is how often a list starts again because its pages have expired.
const listings = 3

// place is a namespace that need not contain a store.
type place struct {
	cluster  *kubeclient.Client
	location store.Location
	secrets  collection
	maps     collection
	leases   *kubeclient.Leases
	options  Options
}

func (p *place) Location() store.Location { return p.location }

// String names the store as the flag --store does.
func (p *place) String() string { return p.location.String() }

func (p *place) of(kind store.Kind) collection {
	if kind.Secret() {
		return p.secrets
	}
	return p.maps
}

// list lists a kind in a namespace, which need not be a store.
func (p *place) list(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	list, err := p.pages(ctx, kind)
	for n := 1; n < listings && apierrors.IsResourceExpired(err); n++ {
		list, err = p.pages(ctx, kind)
	}
	slices.SortFunc(list, func(a, b store.Document) int { return strings.Compare(a.Key.Name, b.Key.Name) })
	return list, err
}

func (p *place) pages(ctx context.Context, kind store.Kind) ([]store.Document, error) {
	in := p.of(kind)
	o := metav1.ListOptions{LabelSelector: otherKindsSelector(kind), Limit: pageSize}
	var list []store.Document
	for {
		page, next, err := p.page(ctx, in, o)
		if err != nil {
			return nil, err
		}
		size := 0
		for _, found := range page {
			size += found.size()
			if key, ok := found.key(kind); ok {
				list = append(list, found.listed(key))
			}
		}
		if next == "" {
			return list, nil
		}
		if o.Continue = next; size < smallPage {
			o.Limit = min(o.Limit*2, largestPage)
		}
	}
}

func (p *place) page(ctx context.Context, in collection, o metav1.ListOptions) (page []object, next string, err error) {
	err = retry(ctx, func(ctx context.Context) (err error) {
		page, next, err = in.list(ctx, o)
		return err
	})
	if err != nil {
		return nil, "", kubeclient.Wrap("list", in.resource()+" in "+p.location.Namespace, err)
	}
	return page, next, nil
}

// object names the object of a document as RBAC does.
func (p *place) object(key store.Key) string {
	return p.of(key.Kind).resource() + " " + p.location.Namespace + "/" + documentName(key)
}

// otherKindsSelector selects objects without a kind, of unknown kinds, and of the given kinds. A
// declaration that lost its label must not seem to be deleted.
func otherKindsSelector(but ...store.Kind) string {
	var names []string
	for _, k := range store.Kinds() {
		if !slices.Contains(but, k) {
			names = append(names, string(k))
		}
	}
	return kindLabel + " notin (" + strings.Join(names, ",") + ")"
}

// hasDocuments reports whether the namespace has any document of a store, as far as these
// credentials can list.
func (p *place) hasDocuments(ctx context.Context) bool {
	for _, in := range []collection{p.maps, p.secrets} {
		page, _, err := p.page(ctx, in, metav1.ListOptions{LabelSelector: kindLabel, Limit: 1})
		if err == nil && len(page) > 0 {
			return true
		}
	}
	return false
}

// Fits rejects documents that are larger than an object of the API.
func (p *place) Fits(key store.Key, data []byte) error {
	if _, err := newObject(key, data); err != nil {
		return fmt.Errorf("%s: %w", p, err)
	}
	return nil
}
