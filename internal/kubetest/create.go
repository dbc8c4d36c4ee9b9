package kubetest

import (
	"context"
	"errors"
	"fmt"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

type object interface {
	runtime.Object
	metav1.Object
}

// Create creates the object and returns the server's version. A cluster-scoped object is deleted
// when the test ends.
func Create[T object](t testing.TB, c *Cluster, of T) T {
	t.Helper()
	made, err := TryCreate(t.Context(), c, of)
	if err != nil {
		t.Fatalf("create %T %s/%s: %v", of, of.GetNamespace(), of.GetName(), err)
	}
	if made.GetNamespace() != "" {
		return made
	}
	afterwards(t, func(ctx context.Context) {
		client, resource, err := c.clientFor(made)
		if err == nil {
			err = client.Delete().Resource(resource).Name(made.GetName()).Do(ctx).Error()
		}
		if err != nil && !apierrors.IsNotFound(err) {
			t.Logf("%T %s stays: %v", made, made.GetName(), err)
		}
	})
	return made
}

// Ensure creates the objects that do not exist, for all tests of the cluster.
func Ensure[T object](t testing.TB, c *Cluster, all ...T) {
	t.Helper()
	for _, of := range all {
		if _, err := TryCreate(t.Context(), c, of); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatalf("create %T %s/%s: %v", of, of.GetNamespace(), of.GetName(), err)
		}
	}
}

// TryCreate creates the object, or returns the server's refusal.
func TryCreate[T object](ctx context.Context, c *Cluster, of T) (T, error) {
	var none T
	client, resource, err := c.clientFor(of)
	if err != nil {
		return none, err
	}
	request := client.Post().Resource(resource)
	if of.GetNamespace() != "" {
		request = request.Namespace(of.GetNamespace())
	}
	answer, err := request.Body(of).Do(ctx).Get()
	if err != nil {
		return none, err
	}
	made, ok := answer.(T)
	if !ok {
		return none, fmt.Errorf("the server answered with %T", answer)
	}
	return made, nil
}

// clientFor returns a client of the object's API group, and the name under
// which the group serves the object's kind.
func (c *Cluster) clientFor(of runtime.Object) (rest.Interface, string, error) {
	kinds, _, err := scheme.Scheme.ObjectKinds(of)
	if err != nil {
		return nil, "", err
	}
	if len(kinds) == 0 {
		return nil, "", errors.New("the object's kind is unknown")
	}
	config := c.Config()
	config.GroupVersion = &schema.GroupVersion{Group: kinds[0].Group, Version: kinds[0].Version}
	config.APIPath = "/apis"
	if kinds[0].Group == "" {
		config.APIPath = "/api"
	}
	config.NegotiatedSerializer = scheme.Codecs.WithoutConversion()
	client, err := rest.RESTClientFor(config)
	plural, _ := meta.UnsafeGuessKindToResource(kinds[0])
	return client, plural.Resource, err
}
