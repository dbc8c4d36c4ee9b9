package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/kubernetes/cmd/kube-controller-manager/names"

	"github.com/gpupool/terraform-provider-gpupool/tools/localkube/kubelet"
)

type options struct {
	dir        string
	kubeconfig string
	port       int

	nodes       int
	gpusPerNode int

	controllers            []string
	terminatedPodThreshold int
	podGC                  podGC

	noScheduler bool
	noKubelet   bool
	verbose     bool
}

func (o options) has(controller string) bool { return slices.Contains(o.controllers, controller) }

func defaults() options {
	return options{nodes: 2, gpusPerNode: 8, controllers: usualControllers, terminatedPodThreshold: 12500, podGC: usualPodGC}
}

// startTimeout bounds each wait for a component. A start takes a few seconds
// on an idle machine; tests of several packages may share two cores.
const startTimeout = 3 * time.Minute

// serve runs everything until ctx is done, or until a component fails.
func serve(ctx context.Context, options options, stdout io.Writer) (err error) {
	if err := checkControllers(options.controllers); err != nil {
		return err
	}
	dir, err := openDirectory(options.dir)
	if err != nil {
		return err
	}
	defer dir.close()
	flush, err := logTo(dir, options.verbose)
	if err != nil {
		return err
	}
	defer flush()
	defer func() {
		if tail := dir.logTail(); err != nil && tail != "" && !options.verbose {
			err = fmt.Errorf("%w\nthe end of its log:\n%s", err, tail)
		}
	}()

	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	// run starts a component; its end before ours is a failure.
	run := func(name string, component func(context.Context) error) {
		go func() {
			err := component(ctx)
			if ctx.Err() == nil {
				fail(fmt.Errorf("%s ended: %w", name, errors.Join(err, errors.New("it was to run on"))))
			}
		}()
	}
	if err := start(ctx, dir, options, run); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	if _, err := fmt.Fprintf(stdout, "ready kubeconfig=%s\n", kubeconfigPath(dir, options)); err != nil {
		return fmt.Errorf("report that it is ready: %w", err)
	}
	<-ctx.Done()
	return context.Cause(ctx)
}

// start brings the components up one after the other, and returns when the
// cluster is ready for use.
func start(ctx context.Context, dir *directory, options options, run func(string, func(context.Context) error)) error {
	listener, err := dir.listen(ctx, options.port)
	if err != nil {
		return err
	}
	config, err := dir.admin(listener.Addr().String())
	if err != nil {
		return err
	}
	if options.kubeconfig != "" {
		if err := dir.copyKubeconfig(options.kubeconfig); err != nil {
			return err
		}
	}
	if err := startEtcd(ctx, dir, logOutput(dir, options.verbose)); err != nil {
		return fmt.Errorf("start etcd: %w", err)
	}
	run("kube-apiserver", func(ctx context.Context) error { return runAPIServer(ctx, dir, options, listener) })
	client, err := kubernetes.NewForConfig(rest.AddUserAgent(config, "localkube"))
	if err != nil {
		return err
	}
	if err := waitFor(ctx, "the API server", func(ctx context.Context) error {
		return client.RESTClient().Get().AbsPath("/readyz").Do(ctx).Error()
	}); err != nil {
		return err
	}

	controllers := options.controllers
	if options.podGC != usualPodGC && options.has(names.PodGarbageCollectorController) {
		controllers = slices.DeleteFunc(slices.Clone(controllers), func(name string) bool { return name == names.PodGarbageCollectorController })
		run("the pod garbage collector", func(ctx context.Context) error { return runPodGC(ctx, config, options) })
	}
	if len(controllers) > 0 && !options.has(none) {
		run("kube-controller-manager", func(ctx context.Context) error { return runControllers(ctx, dir, options, controllers) })
	}
	if !options.noScheduler {
		run("kube-scheduler", func(ctx context.Context) error { return runScheduler(ctx, dir) })
	}
	if !options.noKubelet {
		nodes := kubelet.Nodes(options.nodes, options.gpusPerNode)
		run("the stand-in kubelet", func(ctx context.Context) error { return kubelet.Run(ctx, config, nodes) })
		for _, node := range nodes {
			if err := waitFor(ctx, "node "+node.Name, func(ctx context.Context) error { return nodeReady(ctx, client, node.Name) }); err != nil {
				return err
			}
		}
	}
	if !options.has(names.ServiceAccountController) {
		return nil
	}
	// Pods are refused where their namespace has no service account yet.
	return waitFor(ctx, "the controllers", func(ctx context.Context) error {
		_, err := client.CoreV1().ServiceAccounts(metav1.NamespaceDefault).Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

func nodeReady(ctx context.Context, client kubernetes.Interface, name string) error {
	node, err := client.CoreV1().Nodes().Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady && condition.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return errors.New("it is not Ready")
}

// waitFor asks until there is no error.
func waitFor(ctx context.Context, what string, ask func(context.Context) error) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, startTimeout, true, func(ctx context.Context) (bool, error) {
		last = ask(ctx)
		return last == nil, nil
	})
	if err != nil {
		return fmt.Errorf("wait for %s: %w", what, errors.Join(err, last))
	}
	return nil
}

func kubeconfigPath(dir *directory, options options) string {
	if options.kubeconfig != "" {
		return options.kubeconfig
	}
	return dir.path("kubeconfig")
}
