package kubernetes

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// object is a Secret or a ConfigMap.
type object struct {
	metav1.ObjectMeta

	text map[string]string // of a ConfigMap only
	data map[string][]byte
}

func (o object) size() int {
	size := 0
	for _, text := range o.text {
		size += len(text)
	}
	for _, data := range o.data {
		size += len(data)
	}
	return size
}

type collection interface {
	// resource returns the name of the objects in RBAC.
	resource() string
	get(ctx context.Context, name string) (object, error)
	list(ctx context.Context, o metav1.ListOptions) (page []object, next string, err error)
	create(ctx context.Context, o object) (object, error)
	update(ctx context.Context, o object) (object, error)
	remove(ctx context.Context, name string, o metav1.DeleteOptions) error
}

type secrets struct{ client *kubeclient.Secrets }

func (secrets) resource() string { return "secrets" }

func ofSecret(s *corev1.Secret, err error) (object, error) {
	if err != nil {
		return object{}, err
	}
	return object{ObjectMeta: s.ObjectMeta, data: s.Data}, nil
}

func (o object) secret() *corev1.Secret {
	return &corev1.Secret{ObjectMeta: o.ObjectMeta, Type: corev1.SecretTypeOpaque, Data: o.data}
}

func (c secrets) get(ctx context.Context, name string) (object, error) {
	return ofSecret(c.client.Get(ctx, name, metav1.GetOptions{}))
}

func (c secrets) list(ctx context.Context, o metav1.ListOptions) ([]object, string, error) {
	list, err := c.client.List(ctx, o)
	if err != nil {
		return nil, "", err
	}
	page := make([]object, len(list.Items))
	for n := range list.Items {
		page[n] = object{ObjectMeta: list.Items[n].ObjectMeta, data: list.Items[n].Data}
	}
	return page, list.Continue, nil
}

func (c secrets) create(ctx context.Context, o object) (object, error) {
	return ofSecret(c.client.Create(ctx, o.secret(), metav1.CreateOptions{}))
}

func (c secrets) update(ctx context.Context, o object) (object, error) {
	return ofSecret(c.client.Update(ctx, o.secret(), metav1.UpdateOptions{}))
}

func (c secrets) remove(ctx context.Context, name string, o metav1.DeleteOptions) error {
	return c.client.Delete(ctx, name, o)
}

type configMaps struct{ client *kubeclient.ConfigMaps }

func (configMaps) resource() string { return "configmaps" }

func ofConfigMap(m *corev1.ConfigMap, err error) (object, error) {
	if err != nil {
		return object{}, err
	}
	return object{ObjectMeta: m.ObjectMeta, text: m.Data, data: m.BinaryData}, nil
}

func (o object) configMap() *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: o.ObjectMeta, Data: o.text, BinaryData: o.data}
}

func (c configMaps) get(ctx context.Context, name string) (object, error) {
	return ofConfigMap(c.client.Get(ctx, name, metav1.GetOptions{}))
}

func (c configMaps) list(ctx context.Context, o metav1.ListOptions) ([]object, string, error) {
	list, err := c.client.List(ctx, o)
	if err != nil {
		return nil, "", err
	}
	page := make([]object, len(list.Items))
	for n := range list.Items {
		page[n] = object{ObjectMeta: list.Items[n].ObjectMeta, text: list.Items[n].Data, data: list.Items[n].BinaryData}
	}
	return page, list.Continue, nil
}

func (c configMaps) create(ctx context.Context, o object) (object, error) {
	return ofConfigMap(c.client.Create(ctx, o.configMap(), metav1.CreateOptions{}))
}

func (c configMaps) update(ctx context.Context, o object) (object, error) {
	return ofConfigMap(c.client.Update(ctx, o.configMap(), metav1.UpdateOptions{}))
}

func (c configMaps) remove(ctx context.Context, name string, o metav1.DeleteOptions) error {
	return c.client.Delete(ctx, name, o)
}
