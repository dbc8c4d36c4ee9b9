package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const (
	layoutName  = prefix + "store"
	layoutEntry = "store.json"
)

const (
	defaultLeaseDuration = time.Minute
	defaultRenewEvery    = 20 * time.Second
)

// LayoutObject returns the ConfigMap that makes a namespace an empty store.
func LayoutObject(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: layoutName, Namespace: namespace, Labels: map[string]string{managedByLabel: managedBy}},
		Data:       map[string]string{layoutEntry: string(store.Layout())},
	}
}

// Open opens the store in a namespace. If there is none, the error wraps store.ErrNoStore, unless
// Create is set. It refuses a store, and leaves it unchanged, if a newer gpupool laid it out, or if
// its description is damaged or lost.
func Open(ctx context.Context, cluster *kubeclient.Client, namespace string, o Options) (*Store, error) {
	s, err := at(cluster, namespace, o)
	if err != nil {
		return nil, err
	}
	err = s.present(ctx)
	if errors.Is(err, store.ErrNoStore) && s.hasDocuments(ctx) {
		// A new store gets its description before any document, so a missing one was lost.
		if err = s.present(ctx); errors.Is(err, store.ErrNoStore) {
			err = s.undescribed()
		}
	}
	if errors.Is(err, store.ErrNoStore) && o.Create {
		err = s.create(ctx)
	}
	if err != nil {
		return nil, err
	}
	return s, nil
}

// at returns the store in a namespace, whether it exists or not.
func at(cluster *kubeclient.Client, namespace string, o Options) (*Store, error) {
	location, err := store.InNamespace(namespace)
	if err != nil {
		return nil, err
	}
	if o.Command == "" {
		o.Command = filepath.Base(os.Args[0])
	}
	if o.LeaseDuration == 0 {
		o.LeaseDuration = defaultLeaseDuration
	}
	if o.RenewEvery == 0 {
		o.RenewEvery = defaultRenewEvery
	}
	if o.MarkFor == 0 {
		o.MarkFor = markFor
	}
	api := cluster.Kubernetes()
	l := &layout{place: &place{
		cluster: cluster, location: location, options: o,
		secrets: secrets{api.CoreV1().Secrets(namespace)},
		maps:    configMaps{api.CoreV1().ConfigMaps(namespace)},
		leases:  api.CoordinationV1().Leases(namespace),
	}}
	return &Store{layout: l, locks: locks{l}}, nil
}

// layout is the description of a store, and the mark in it.
type layout struct {
	*place
	checked atomic.Int64 // when the mark was last read, as a Unix time in milliseconds
}

// present reads the namespace's description. It returns store.ErrNoStore if there is no store.
func (l *layout) present(ctx context.Context) error {
	var found object
	err := retry(ctx, func(ctx context.Context) (err error) {
		found, err = l.maps.get(ctx, layoutName)
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return l.noStore()
	case err != nil:
		return fmt.Errorf("cannot open the store %s: %w", l, kubeclient.Wrap("get", l.layoutPath(), err))
	}
	if err := store.CheckLayout([]byte(found.text[layoutEntry]), l, l.layoutPath(),
		"restore it from a copy, or delete that ConfigMap, and then "+store.RepairHint(l)); err != nil {
		return err
	}
	return l.judgeMark(found)
}

func (l *layout) layoutPath() string { return "configmaps " + l.location.Namespace + "/" + layoutName }

func (l *layout) noStore() error {
	return fmt.Errorf("%w: the namespace %s at %s has no configmap %s. Create a store with terraform apply or gpupool manifests, or name another "+
		"with --store or %s and --context",
		store.ErrNoStore, l.location.Namespace, l.cluster.Host(), layoutName, store.EnvironmentVariable)
}

// create creates the store, which several processes may do at once.
func (l *layout) create(ctx context.Context) error {
	err := l.describe(ctx)
	if apierrors.IsNotFound(err) {
		if err := l.createNamespace(ctx); err != nil {
			return err
		}
		err = l.describe(ctx)
	}
	if noNamespace(err) {
		return fmt.Errorf("%w: the namespace %s is being deleted; wait until it is gone, or name another", store.ErrNoStore, l.location.Namespace)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create the store %s: %w", l, kubeclient.Wrap("create", l.layoutPath(), err))
	}
	return l.present(ctx)
}

func (l *layout) describe(ctx context.Context) error {
	about := LayoutObject(l.location.Namespace)
	return retry(ctx, func(ctx context.Context) error {
		_, err := l.maps.create(ctx, object{ObjectMeta: about.ObjectMeta, text: about.Data})
		return err
	})
}

func (l *layout) createNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: l.location.Namespace, Labels: map[string]string{managedByLabel: managedBy},
	}}
	err := retry(ctx, func(ctx context.Context) error {
		_, err := l.cluster.Kubernetes().CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		return err
	})
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w: there is no namespace %s, and these credentials cannot create it; apply the output of gpupool manifests "+
			"--namespace %s with ones that can: %w",
			store.ErrNoStore, l.location.Namespace, l.location.Namespace, kubeclient.Wrap("create", "namespaces "+l.location.Namespace, err))
	case err != nil && !apierrors.IsAlreadyExists(err):
		return fmt.Errorf("cannot create the store %s: %w", l, kubeclient.Wrap("create", "namespaces "+l.location.Namespace, err))
	}
	return nil
}

// undescribed returns the error for documents without a description.
func (l *layout) undescribed() error {
	return fmt.Errorf("%w: the namespace %s at %s has documents of a store, and no configmap %s: %s",
		store.ErrUndescribed, l.location.Namespace, l.cluster.Host(), layoutName, store.RepairHint(l))
}
