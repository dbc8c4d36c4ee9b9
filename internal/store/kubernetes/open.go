package kubernetes

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
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

// LayoutObject is the ConfigMap that makes a namespace an empty store.
func LayoutObject(namespace string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Name: layoutName, Namespace: namespace, Labels: map[string]string{managedByLabel: managedBy}},
		Data:       map[string]string{layoutEntry: string(store.Layout())},
	}
}

// Open opens the store in a namespace. Where there is none, the error wraps
// store.ErrNoStore, unless the store may be created. A store is refused and left
// alone where a newer gpupool laid it out, or where its description is damaged or
// lost.
func Open(ctx context.Context, cluster *kubeclient.Client, namespace string, o Options) (*Store, error) {
	s, err := at(cluster, namespace, o)
	if err != nil {
		return nil, err
	}
	err = s.present(ctx)
	if errors.Is(err, store.ErrNoStore) && s.hasDocuments(ctx) {
		// A new store gets its description before any document, so one that is still
		// missing was lost.
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

// at is the store in a namespace, whether it exists or not.
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
	return &Store{
		cluster: cluster, location: location, options: o,
		secrets: secrets{api.CoreV1().Secrets(namespace)},
		maps:    configMaps{api.CoreV1().ConfigMaps(namespace)},
		leases:  api.CoordinationV1().Leases(namespace),
	}, nil
}

// present reads the namespace's description. It returns store.ErrNoStore where there
// is no store.
func (s *Store) present(ctx context.Context) error {
	var found object
	err := retry(ctx, func(ctx context.Context) (err error) {
		found, err = s.maps.get(ctx, layoutName)
		return err
	})
	switch {
	case apierrors.IsNotFound(err):
		return s.noStore()
	case err != nil:
		return fmt.Errorf("cannot open the store %s: %w", s, kubeclient.Wrap("get", s.layoutPath(), err))
	}
	if err := store.CheckLayout([]byte(found.text[layoutEntry]), s, s.layoutPath(),
		"restore it from a copy, or delete that ConfigMap, and then "+store.MakeAnew(s)); err != nil {
		return err
	}
	return s.judgeMark(found)
}

func (s *Store) layoutPath() string { return "configmaps " + s.location.Namespace + "/" + layoutName }

func (s *Store) noStore() error {
	return fmt.Errorf("%w: the namespace %s at %s has no configmap %s; terraform apply and gpupool manifests make a store, or name the right one with "+
		"--store or %s, and the right cluster with --context",
		store.ErrNoStore, s.location.Namespace, s.cluster.Host(), layoutName, store.EnvironmentVariable)
}

// create makes the store, which several processes may do at once.
func (s *Store) create(ctx context.Context) error {
	err := s.describe(ctx)
	if apierrors.IsNotFound(err) {
		if err := s.createNamespace(ctx); err != nil {
			return err
		}
		err = s.describe(ctx)
	}
	if noNamespace(err) {
		return fmt.Errorf("%w: the namespace %s is being deleted; wait until it is gone, or name another", store.ErrNoStore, s.location.Namespace)
	}
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("cannot create the store %s: %w", s, kubeclient.Wrap("create", s.layoutPath(), err))
	}
	return s.present(ctx)
}

func (s *Store) describe(ctx context.Context) error {
	about := LayoutObject(s.location.Namespace)
	return retry(ctx, func(ctx context.Context) error {
		_, err := s.maps.create(ctx, object{ObjectMeta: about.ObjectMeta, text: about.Data})
		return err
	})
}

func (s *Store) createNamespace(ctx context.Context) error {
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name: s.location.Namespace, Labels: map[string]string{managedByLabel: managedBy},
	}}
	err := retry(ctx, func(ctx context.Context) error {
		_, err := s.cluster.Kubernetes().CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
		return err
	})
	switch {
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%w: there is no namespace %s, and these credentials may not create it; someone who may applies what gpupool manifests "+
			"--namespace %s prints: %w",
			store.ErrNoStore, s.location.Namespace, s.location.Namespace, kubeclient.Wrap("create", "namespaces "+s.location.Namespace, err))
	case err != nil && !apierrors.IsAlreadyExists(err):
		return fmt.Errorf("cannot create the store %s: %w", s, kubeclient.Wrap("create", "namespaces "+s.location.Namespace, err))
	}
	return nil
}
