package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
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

	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

const (
	storeNamespace = "gpupool-demo-system"
	podsNamespace  = "gpupool-demo"
)

// cluster is the Kubernetes that a part plays in.
type cluster struct {
	client  kubernetes.Interface
	objects dynamic.Interface
	created []object // in order; what was there before is not among them

	local *local.Kubernetes // nil for the user's own
}

// object is one that the demo created.
type object struct {
	resource        schema.GroupVersionResource
	namespace, name string
	uid             types.UID
}

// enterCluster starts a local Kubernetes, or takes the user's own, and points
// Terraform and gpupool at it.
func (s *stage) enterCluster(ctx context.Context, localkube, kubeconfig string) error {
	c := &cluster{}
	s.cluster = c
	if kubeconfig == "" {
		var err error
		if c.local, err = local.StartKubernetes(ctx, localkube, filepath.Join(s.dir, "kubernetes")); err != nil {
			return err
		}
		kubeconfig = c.local.Kubeconfig
		fmt.Fprintln(s.out, "A local Kubernetes, with controllers and GPU nodes that seem to run pods, serves with", kubeconfig)
	}
	kubeconfig, err := filepath.Abs(kubeconfig) // the commands run elsewhere
	if err != nil {
		return err
	}
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return err
	}
	if c.local == nil {
		fmt.Fprintf(s.out, "The cluster is that of %s, at %s: what the demo creates there is removed at the end, and nothing else.\n", kubeconfig, config.Host)
	}
	if c.client, err = kubernetes.NewForConfig(config); err != nil {
		return err
	}
	if c.objects, err = dynamic.NewForConfig(config); err != nil {
		return err
	}
	s.env = append(s.env, "KUBECONFIG="+kubeconfig, "KUBE_CONFIG_PATH="+kubeconfig, "GPUPOOL_STORE=kubernetes:"+storeNamespace)
	return nil
}

// leaveCluster ends a local cluster. From the user's own it removes what the demo
// created, last first; but first what Terraform still has, where the demo was
// stopped on the way: a budget that is destroyed lifts what it enforced.
func (s *stage) leaveCluster() error {
	if s.cluster == nil {
		return nil
	}
	if s.cluster.local != nil {
		s.cluster.local.Stop()
		return nil
	}
	if len(s.cluster.created) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	errs := []error{s.destroyRest(ctx)}
	for _, o := range slices.Backward(s.cluster.created) {
		errs = append(errs, s.cluster.remove(ctx, o))
	}
	for _, o := range s.cluster.created {
		errs = append(errs, until(ctx, "the "+o.resource.Resource+" "+o.name+" to be gone", func(ctx context.Context) (bool, error) {
			return s.cluster.gone(ctx, o)
		}))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("something of the demo may be left in the cluster: %w", err)
	}
	fmt.Fprintf(s.out, "\n   Removed from the cluster: the %d objects that the demo had created there.\n", len(s.cluster.created))
	return nil
}

// destroyRest destroys the budget, if it is in Terraform's state. The pool is
// forgotten: its instances end with the local CVM, if that has not ended before.
func (s *stage) destroyRest(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.dir, "work", "terraform.tfstate")); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was applied
	}
	kept, err := s.command(ctx, s.terraAt, "state", "list").Output()
	if err != nil {
		return err
	}
	addresses := strings.Fields(string(kept))
	if pool := "gpupool_spot_pool.serve"; slices.Contains(addresses, pool) {
		if err := s.terraformQuietly(ctx, "state", "rm", pool); err != nil {
			return err
		}
	}
	if budget := "gpupool_budget.team_a"; slices.Contains(addresses, budget) {
		return s.terraformQuietly(ctx, "destroy", "-target="+budget, "-auto-approve", "-input=false")
	}
	return nil
}

// gone reports whether an object is there no more.
func (c *cluster) gone(ctx context.Context, o object) (bool, error) {
	now, err := c.objects.Resource(o.resource).Namespace(o.namespace).Get(ctx, o.name, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return true, nil
	}
	return err == nil && now.GetUID() != o.uid, err
}

func (c *cluster) remove(ctx context.Context, o object) error {
	uid := metav1.Preconditions{UID: &o.uid}
	err := c.objects.Resource(o.resource).Namespace(o.namespace).Delete(ctx, o.name, metav1.DeleteOptions{Preconditions: &uid})
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil // it went with its namespace, or is someone else's by now
	}
	return err
}

// create creates one object, unless it is there.
func (c *cluster) create(ctx context.Context, o *unstructured.Unstructured) error {
	resource, _ := meta.UnsafeGuessKindToResource(o.GroupVersionKind())
	made, err := c.objects.Resource(resource).Namespace(o.GetNamespace()).Create(ctx, o, metav1.CreateOptions{})
	if apierrors.IsAlreadyExists(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("creating the %s %s: %w", o.GetKind(), o.GetName(), err)
	}
	c.created = append(c.created, object{resource: resource, namespace: made.GetNamespace(), name: made.GetName(), uid: made.GetUID()})
	return nil
}

// apply does what kubectl apply -f does with the manifests that gpupool prints,
// but for what runs gpupool by itself: the demo does that. command is how a reader would
// apply them.
func (s *stage) apply(ctx context.Context, command, manifests string) error {
	documents := yaml.NewYAMLOrJSONDecoder(strings.NewReader(manifests), 4096)
	counts := map[string]int{}
	var kinds []string
	for {
		var o unstructured.Unstructured
		err := documents.Decode(&o)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if len(o.Object) == 0 || slices.Contains([]string{"CronJob", "DaemonSet"}, o.GetKind()) {
			continue
		}
		if err := s.cluster.create(ctx, &o); err != nil {
			return err
		}
		if counts[o.GetKind()]++; counts[o.GetKind()] == 1 {
			kinds = append(kinds, o.GetKind())
		}
	}
	for i, kind := range kinds {
		kinds[i] = fmt.Sprintf("%d %s", counts[kind], kind)
	}
	fmt.Fprintf(s.out, "\n   $ %s    (all but what runs gpupool by itself)\n   %s\n", command, strings.Join(kinds, ", "))
	return nil
}

// expectPods prints the namespace's pods, as kubectl get pods would.
func (s *stage) expectPods(ctx context.Context, want int) error {
	list, err := s.cluster.client.CoreV1().Pods(podsNamespace).List(ctx, metav1.ListOptions{})
	if err != nil {
		return err
	}
	fmt.Fprintf(s.out, "\n   Pods in %s: %d\n", podsNamespace, len(list.Items))
	for _, p := range list.Items {
		state := string(p.Status.Phase)
		if p.DeletionTimestamp != nil {
			state = "Terminating"
		}
		fmt.Fprintf(s.out, "     %s %s\n", p.Name, state)
	}
	if len(list.Items) != want {
		return fmt.Errorf("%d pods were expected", want)
	}
	return nil
}

// until asks every moment until ok, for at most two minutes.
func until(ctx context.Context, what string, ok func(context.Context) (bool, error)) error {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Minute)
	defer cancel()
	for {
		is, err := ok(ctx)
		if is || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("waited in vain for %s: %w", what, ctx.Err())
		case <-time.After(200 * time.Millisecond):
		}
	}
}
