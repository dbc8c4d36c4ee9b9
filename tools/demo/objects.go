package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
)

// objects creates objects in a cluster, and records which. kubectl apply is not used for
// that, since it would change what was there before.
type objects struct {
	client  dynamic.Interface
	created []object // in order
}

type object struct {
	kind            string
	resource        schema.GroupVersionResource
	namespace, name string
	uid             types.UID
}

func (o object) String() string {
	kind := strings.ToLower(o.kind)
	if o.resource.Group != "" {
		kind += "." + o.resource.Group
	}
	return kind + "/" + o.name
}

// createAll creates the objects of manifests, but for some kinds.
func (all *objects) createAll(ctx context.Context, manifests io.Reader, without ...string) error {
	for documents := yaml.NewYAMLOrJSONDecoder(manifests, 4096); ; {
		var o unstructured.Unstructured
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(o.Object) == 0 || slices.Contains(without, o.GetKind()) {
			continue
		}
		if err := all.create(ctx, &o); err != nil {
			return err
		}
	}
}

// create creates one object, unless it exists. A namespace must not exist: what is in it
// was not created here, and removing the namespace would remove it.
func (all *objects) create(ctx context.Context, o *unstructured.Unstructured) error {
	made := object{kind: o.GetKind(), namespace: o.GetNamespace(), name: o.GetName()}
	made.resource, _ = meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	// Not interrupted, since what may have been created could not be removed.
	there, err := all.client.Resource(made.resource).Namespace(made.namespace).Create(context.WithoutCancel(ctx), o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) && made.kind != "Namespace" {
		return nil
	}
	if apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("the cluster has %s already, and what is in it was not created here: delete the namespace first", made)
	}
	if err != nil {
		return fmt.Errorf("creating %s: %w", made, err)
	}
	made.uid = there.GetUID()
	all.created = append(all.created, made)
	return nil
}

func byKind(all []object) string {
	counts := map[string]int{}
	var kinds []string
	for _, o := range all {
		if counts[o.kind]++; counts[o.kind] == 1 {
			kinds = append(kinds, o.kind)
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	return strings.Join(kinds, ", ")
}

// gone reports whether an object no longer exists.
func (all *objects) gone(ctx context.Context, o object) (bool, error) {
	now, err := all.client.Resource(o.resource).Namespace(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && now.GetUID() != o.uid, err
}

// remove deletes an object, unless another one has its name by now.
func (all *objects) remove(ctx context.Context, o object) error {
	uid := metav1.Preconditions{UID: &o.uid}
	err := all.client.Resource(o.resource).Namespace(o.namespace).Delete(ctx, o.name, metav1.DeleteOptions{Preconditions: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it was deleted with its namespace, or replaced
	}
	return err
}
