package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"
)

// TestMain is the few commands of kubectl that the guides show, where the test's own
// binary is started by that name: nobody needs kubectl to run the tests.
func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) != "kubectl" {
		os.Exit(m.Run())
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	err := kubectl(ctx, os.Args[1:], os.Stdin, os.Stdout)
	cancel()
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// kubectl does what kubectl would with these arguments, a namespace first.
func kubectl(ctx context.Context, args []string, stdin io.Reader, stdout io.Writer) error {
	config, err := clientcmd.BuildConfigFromFlags("", os.Getenv("KUBECONFIG"))
	if err != nil {
		return err
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	objects, err := dynamic.NewForConfig(config)
	if err != nil {
		return err
	}
	namespace := ""
	if len(args) > 2 && args[0] == "-n" {
		namespace, args = args[1], args[2:]
	}
	background := metav1.DeletePropagationBackground
	switch line := strings.Join(args, " "); {
	case line == "apply -f -":
		return applyAll(ctx, objects, stdin, stdout)
	case strings.HasPrefix(line, "apply -f "):
		file, err := os.Open(args[2])
		if err != nil {
			return err
		}
		defer file.Close()
		return applyAll(ctx, objects, file, stdout)
	case strings.HasPrefix(line, "delete cronjob "):
		fmt.Fprintf(stdout, "cronjob.batch %q deleted\n", args[2])
		return client.BatchV1().CronJobs(namespace).Delete(ctx, args[2], metav1.DeleteOptions{PropagationPolicy: &background})
	case line == "rollout status deployment/train":
		return rolledOut(ctx, client, namespace, "train", stdout)
	case line == "annotate deployment train try=again":
		patch := []byte(`{"metadata":{"annotations":{"try":"again"}}}`)
		fmt.Fprintln(stdout, "deployment.apps/train annotated")
		_, err := client.AppsV1().Deployments(namespace).Patch(ctx, "train", types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	case line == "get pods":
		pods, err := client.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
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
	return fmt.Errorf("this stand-in for kubectl knows no %q", args)
}

// applyAll creates what is not there, and says so as kubectl does.
func applyAll(ctx context.Context, objects dynamic.Interface, manifests io.Reader, stdout io.Writer) error {
	for documents := yaml.NewYAMLOrJSONDecoder(manifests, 4096); ; {
		var o unstructured.Unstructured
		if err := documents.Decode(&o); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if len(o.Object) == 0 {
			continue
		}
		of := o.GroupVersionKind()
		resource, _ := meta.UnsafeGuessKindToResource(of)
		_, err := objects.Resource(resource).Namespace(o.GetNamespace()).Create(ctx, &o, metav1.CreateOptions{})
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return fmt.Errorf("creating the %s %s: %w", of.Kind, o.GetName(), err)
		}
		kind := strings.ToLower(of.Kind)
		if of.Group != "" {
			kind += "." + of.Group
		}
		fmt.Fprintf(stdout, "%s/%s created\n", kind, o.GetName())
	}
}

// rolledOut waits until all pods of a Deployment run.
func rolledOut(ctx context.Context, client kubernetes.Interface, namespace, name string, stdout io.Writer) error {
	return until(ctx, "the deployment "+name, func(ctx context.Context) (bool, error) {
		d, err := client.AppsV1().Deployments(namespace).Get(ctx, name, metav1.GetOptions{})
		if err != nil || d.Status.ObservedGeneration < d.Generation || d.Status.AvailableReplicas < *d.Spec.Replicas {
			return false, err
		}
		fmt.Fprintf(stdout, "deployment %q successfully rolled out\n", name)
		return true, nil
	})
}
