package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"

	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/tools/local"
)

const podsNamespace = "gpupool-demo"

type cluster struct {
	*objects

	client *kubeclient.Client  // of gpupool, since client-go's takes long to compile
	local  *local.Kubernetes   // nil for the user's own
	nodes  func() (stop error) // stops joining instances; nil if none join
}

var errNotRemoved = errors.New("objects of the demo may be left in the cluster")

// enterCluster starts a local Kubernetes, or takes the user's own, and points Terraform
// and gpupool at it.
func (s *stage) enterCluster(ctx context.Context, l line) error {
	if s.kubernetes != nil {
		if err := s.kubernetes.wait(ctx, s.out); err != nil {
			return err
		}
	}
	c := &cluster{}
	s.cluster = c
	joined := len(l.args) == 1
	kubeconfig := s.kubeconfig
	if kubeconfig == "" || joined {
		fmt.Fprintln(s.out, wrap("Starting a local Kubernetes, which takes a few seconds: controllers, and GPU nodes that only seem to run pods.", ""))
		var err error
		// Not interrupted, since commands that are interrupted still write to it.
		if c.local, err = local.StartKubernetes(context.WithoutCancel(ctx), s.localkube, filepath.Join(s.dir, "kubernetes")); err != nil {
			return err
		}
		kubeconfig = c.local.Kubeconfig
		fmt.Fprintln(s.out, "It serves with", kubeconfig)
	}
	kubeconfig, err := filepath.Abs(kubeconfig) // the commands run elsewhere
	if err != nil {
		return err
	}
	access := kubeclient.Config{ConfigPath: kubeconfig}
	if c.client, err = kubeclient.Open(access, "gpupool-demo"); err != nil {
		return err
	}
	config, err := access.REST()
	if err != nil {
		return err
	}
	config.Timeout = patience
	objectClient, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	c.objects = &objects{client: objectClient}
	if c.local == nil {
		cluster := fmt.Sprintf("The cluster is that of %s, at %s.", kubeconfig, c.client.Host())
		fmt.Fprintln(s.out, wrap(cluster+" At the end, only the objects of the demo are removed.", ""))
	}
	for _, name := range []string{"KUBECONFIG", "KUBE_CONFIG_PATH"} {
		l.Setenv(name, kubeconfig)
		s.env = append(s.env, name+"="+kubeconfig)
	}
	if joined {
		c.nodes = joinInstances(ctx, c.client.Kubernetes().CoreV1(), s.cvm)
	}
	return s.createNamespace(ctx)
}

// createNamespace creates the namespace of the pods, so that it is known and removed.
func (s *stage) createNamespace(ctx context.Context) error {
	s.announce("kubectl create namespace", podsNamespace)
	namespace := `{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "` + podsNamespace + `"}}`
	err := s.cluster.createAll(ctx, strings.NewReader(namespace))
	if err == nil {
		fmt.Fprintln(s.out, s.cluster.created[0], "created")
	}
	return err
}

// leaveCluster stops a local cluster. From the user's own it removes what the demo created,
// last first. Before that it destroys what Terraform still has, if the demo was stopped: a
// destroyed budget lifts its enforcement.
func (s *stage) leaveCluster() error {
	switch c := s.cluster; {
	case c == nil:
		return nil
	case c.local != nil:
		var err error
		if c.nodes != nil {
			err = c.nodes()
		}
		c.local.Stop()
		return err
	case c.objects == nil || len(c.created) == 0:
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	errs := []error{s.destroyRest(ctx)}
	created := s.cluster.created
	for _, o := range slices.Backward(created) {
		errs = append(errs, s.cluster.remove(ctx, o))
	}
	for _, o := range created {
		errs = append(errs, s.waitFor(ctx, "the removal of "+o.String(), func(ctx context.Context) (bool, string, error) {
			gone, err := s.cluster.gone(ctx, o)
			return gone, o.String(), err
		}))
	}
	if err := errors.Join(errs...); err != nil {
		return fmt.Errorf("%w: %w", errNotRemoved, err)
	}
	fmt.Fprintf(s.out, "\n   Removed from the cluster: the %s that the demo had created there.\n", counted(len(created), "object"))
	return nil
}

func (s *stage) destroyRest(ctx context.Context) error {
	if _, err := os.Stat(filepath.Join(s.work, "terraform.tfstate")); errors.Is(err, fs.ErrNotExist) {
		return nil // nothing was applied
	}
	_, err := s.quietly(ctx, []string{"terraform", "destroy", "-auto-approve", "-input=false"})
	return err
}

// apply does what COMMAND | kubectl apply -f - does, but for what would run gpupool by
// itself, and counts what it created.
func (s *stage) apply(ctx context.Context, l line) error {
	s.announce(strings.Join(l.args, " "), "| kubectl apply -f -")
	manifests, err := s.quietly(ctx, l.args)
	if err != nil {
		return err
	}
	before := len(s.cluster.created)
	err = s.cluster.createAll(ctx, bytes.NewReader(manifests), "CronJob", "DaemonSet")
	fmt.Fprintln(s.out, wrap("   ("+byKind(s.cluster.created[before:])+"; CronJobs and DaemonSets are left out, since the demo runs gpupool)", "   "))
	return err
}

// pods waits until there are so many, all in one phase, and lists them.
func (s *stage) pods(ctx context.Context, l line) error {
	phase, what := "", "pod"
	if len(l.args) == 2 {
		phase, what = l.args[1], l.args[1]+" pod"
	}
	return s.await(ctx, l, what, "Pods in "+podsNamespace, "POD", func(ctx context.Context) (all []item, ready bool, err error) {
		list, err := s.cluster.client.Kubernetes().CoreV1().Pods(podsNamespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return nil, false, err
		}
		ready = true
		for _, p := range list.Items {
			all = append(all, item{p.Name, podState(p)})
			ready = ready && p.DeletionTimestamp == nil && (phase == "" || string(p.Status.Phase) == phase)
		}
		return all, ready, nil
	})
}

func podState(p corev1.Pod) string {
	if p.DeletionTimestamp != nil {
		return "Terminating"
	}
	if p.Spec.NodeName == "" {
		return string(p.Status.Phase)
	}
	return string(p.Status.Phase) + " on " + p.Spec.NodeName
}
