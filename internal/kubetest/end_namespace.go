package kubetest

import (
	"context"
	"errors"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EndNamespace deletes an empty namespace at once, which would take the controller a minute.
func (c *Cluster) EndNamespace(t testing.TB, name string) {
	t.Helper()
	namespaces := c.client.CoreV1().Namespaces()
	if err := namespaces.Delete(t.Context(), name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	WaitFor(t, "the end of the namespace "+name, func(ctx context.Context) error {
		n, err := namespaces.Get(ctx, name, metav1.GetOptions{})
		if err == nil {
			n.Spec.Finalizers = nil
			_, err = namespaces.Finalize(ctx, n, metav1.UpdateOptions{})
		}
		switch {
		case apierrors.IsNotFound(err):
			return nil
		case err != nil:
			return err
		}
		return errors.New("it is still there")
	})
}
