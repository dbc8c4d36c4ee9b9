package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// kubectl is the few commands of kubectl that the stories and the guides use, so that
// nobody needs kubectl to play them. It keeps what it created.
type kubectl struct {
	client  kubernetes.Interface
	objects dynamic.Interface
	host    string
	created []object // in order; what was there before is not among them
}

// object is one that was created.
type object struct {
	kind            string
	resource        schema.GroupVersionResource
	namespace, name string
	uid             types.UID
}

// String names an object as kubectl does.
func (o object) String() string {
	kind := strings.ToLower(o.kind)
	if o.resource.Group != "" {
		kind += "." + o.resource.Group
	}
	return kind + "/" + o.name
}

func newKubectl(kubeconfig string) (*kubectl, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, err
	}
	k := &kubectl{host: config.Host}
	if k.client, err = kubernetes.NewForConfig(config); err != nil {
		return nil, err
	}
	k.objects, err = dynamic.NewForConfig(config)
	return k, err
}

// run does what kubectl would in a directory with these arguments, a namespace first.
func (k *kubectl) run(ctx context.Context, args []string, dir string, stdout io.Writer) error {
	namespace := ""
	if len(args) > 2 && args[0] == "-n" {
		namespace, args = args[1], args[2:]
	}
	command := strings.Join(args[:min(2, len(args))], " ")
	switch rest := args[min(2, len(args)):]; {
	case command == "apply -f" && len(rest) == 1:
		return k.applyFile(ctx, filepath.Join(dir, rest[0]), rest[0] == "-", stdout)
	case command == "create namespace" && len(rest) == 1:
		namespace := &unstructured.Unstructured{}
		namespace.SetAPIVersion("v1")
		namespace.SetKind("Namespace")
		namespace.SetName(rest[0])
		made, _, err := k.create(ctx, namespace)
		if err == nil {
			fmt.Fprintln(stdout, made, "created")
		}
		return err
	case command == "delete cronjob" && len(rest) == 1:
		background := metav1.DeletePropagationBackground
		fmt.Fprintf(stdout, "cronjob.batch %q deleted\n", rest[0])
		return k.client.BatchV1().CronJobs(namespace).Delete(ctx, rest[0], metav1.DeleteOptions{PropagationPolicy: &background})
	case command == "delete pod" && len(rest) == 1:
		return k.deletePod(ctx, namespace, rest[0], stdout)
	case command == "annotate deployment" && len(rest) == 2:
		key, value, _ := strings.Cut(rest[1], "=")
		fmt.Fprintf(stdout, "deployment.apps/%s annotated\n", rest[0])
		return k.patchDeployment(ctx, namespace, rest[0], fmt.Sprintf(`{"metadata":{"annotations":{%q:%q}}}`, key, value))
	case command == "scale deployment" && len(rest) == 3 && rest[1] == "--replicas":
		fmt.Fprintf(stdout, "deployment.apps/%s scaled\n", rest[0])
		return k.patchDeployment(ctx, namespace, rest[0], `{"spec":{"replicas":`+rest[2]+`}}`, "scale")
	case command == "rollout status" && len(rest) == 1:
		return k.rolledOut(ctx, namespace, strings.TrimPrefix(rest[0], "deployment/"), stdout)
	case command == "get pods" && len(rest) == 0:
		return k.getPods(ctx, namespace, stdout)
	case command == "get nodes" && len(rest) == 2 && rest[0] == "-l":
		return k.getNodes(ctx, rest[1], stdout)
	}
	return fmt.Errorf("the demo's stand-in for kubectl has no %q", strings.Join(args, " "))
}

func (k *kubectl) patchDeployment(ctx context.Context, namespace, name, patch string, subresources ...string) error {
	_, err := k.client.AppsV1().Deployments(namespace).Patch(ctx, name, types.MergePatchType, []byte(patch),
		metav1.PatchOptions{FieldManager: "kubectl"}, subresources...)
	return err
}

func (k *kubectl) applyFile(ctx context.Context, name string, stdin bool, stdout io.Writer) error {
	manifests := os.Stdin
	if !stdin {
		var err error
		if manifests, err = os.Open(name); err != nil {
			return err
		}
		defer manifests.Close()
	}
	return k.apply(ctx, manifests, nil, func(o object) { fmt.Fprintln(stdout, o, "created") })
}

// apply creates objects, those of some kinds left out, and tells each of them.
func (k *kubectl) apply(ctx context.Context, manifests io.Reader, without []string, tell func(object)) error {
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
		made, isNew, err := k.create(ctx, &o)
		if err != nil {
			return err
		}
		if isNew {
			tell(made)
		}
	}
}

// create creates one object, unless it exists. A namespace must not: what is in it would
// be somebody else's.
func (k *kubectl) create(ctx context.Context, o *unstructured.Unstructured) (made object, isNew bool, err error) {
	made = object{kind: o.GetKind(), namespace: o.GetNamespace(), name: o.GetName()}
	made.resource, _ = meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	there, err := k.objects.Resource(made.resource).Namespace(made.namespace).Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) && made.kind != "Namespace" {
		return made, false, nil
	}
	if apierrors.IsAlreadyExists(err) {
		return made, false, fmt.Errorf("the cluster has %s already, and what is in it was not created here: delete the namespace first", made)
	}
	if err != nil {
		return made, false, fmt.Errorf("creating %s: %w", made, err)
	}
	made.uid = there.GetUID()
	k.created = append(k.created, made)
	return made, true, nil
}

// gone reports whether an object does not exist any more.
func (k *kubectl) gone(ctx context.Context, o object) (bool, error) {
	now, err := k.objects.Resource(o.resource).Namespace(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && now.GetUID() != o.uid, err
}

func (k *kubectl) remove(ctx context.Context, o object) error {
	uid := metav1.Preconditions{UID: &o.uid}
	err := k.objects.Resource(o.resource).Namespace(o.namespace).Delete(ctx, o.name, metav1.DeleteOptions{Preconditions: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it was deleted with its namespace, or is someone else's by now
	}
	return err
}

// deletePod returns when the pod is gone, as kubectl does.
func (k *kubectl) deletePod(ctx context.Context, namespace, name string, stdout io.Writer) error {
	fmt.Fprintf(stdout, "pod %q deleted\n", name)
	pods := k.client.CoreV1().Pods(namespace)
	if err := pods.Delete(ctx, name, metav1.DeleteOptions{}); err != nil {
		return err
	}
	return poll(ctx, func() (bool, error) {
		_, err := pods.Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			return true, nil
		}
		return false, err
	})
}

// rolledOut waits until all pods of a Deployment run.
func (k *kubectl) rolledOut(ctx context.Context, namespace, name string, stdout io.Writer) error {
	return poll(ctx, func() (bool, error) {
		d, err := k.client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil || d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas < *d.Spec.Replicas {
			return false, err
		}
		fmt.Fprintf(stdout, "deployment %q successfully rolled out\n", name)
		return true, nil
	})
}

// poll asks every moment until ok.
func poll(ctx context.Context, ok func() (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for ; ctx.Err() == nil; sleep(ctx, 200*time.Millisecond) {
		if is, err := ok(); is || err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (k *kubectl) getPods(ctx context.Context, namespace string, stdout io.Writer) error {
	pods, err := k.client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	if len(pods.Items) == 0 {
		fmt.Fprintf(stdout, "No resources found in %s namespace.\n", namespace)
		return nil
	}
	fmt.Fprintln(stdout, "NAME READY STATUS RESTARTS AGE")
	for _, p := range pods.Items {
		fmt.Fprintf(stdout, "%s 1/1 %s 0 %ds\n", p.Name, p.Status.Phase, int(time.Since(p.CreationTimestamp.Time).Seconds()))
	}
	return nil
}

func (k *kubectl) getNodes(ctx context.Context, selector string, stdout io.Writer) error {
	nodes, err := k.client.CoreV1().Nodes().List(ctx, metav1.ListOptions{LabelSelector: selector})
	if err != nil {
		return err
	}
	if len(nodes.Items) == 0 {
		fmt.Fprintln(stdout, "No resources found")
		return nil
	}
	for _, n := range nodes.Items {
		fmt.Fprintf(stdout, "node/%s\n", n.Name)
	}
	return nil
}
