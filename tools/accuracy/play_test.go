package accuracy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/open"
)

// play is one scenario under way: a namespace, a budget over it, a store, and
// the program that keeps it.
type play struct {
	*testing.T
	cluster   *kubetest.Cluster
	namespace string
	store     string
	full      bool
	observer  *observer
}

const budgetName = "accuracy"

// stage prepares a scenario. The budget counts tenths of a GPU.
func stage(t *testing.T, c *kubetest.Cluster, s scenario, full bool) *play {
	t.Helper()
	p := &play{T: t, cluster: c, namespace: c.Namespace(t), full: full}
	p.store = "directory:" + filepath.Join(t.TempDir(), "store")
	if s.inCluster {
		p.store = "kubernetes:" + p.namespace
	}
	connect := func() (*kubeclient.Client, error) {
		return kubeclient.Open(kubeclient.Config{ConfigPath: c.Kubeconfig()}, "accuracy")
	}
	location, err := store.Parse(p.store)
	if err != nil {
		t.Fatal(err)
	}
	place, err := open.Store(t.Context(), location, open.Options{Create: true, Command: "accuracy", Kubernetes: connect})
	if err != nil {
		t.Fatal(err)
	}
	process := reconcile.World{Store: place, Actor: "accuracy", Cluster: func(context.Context) (reconcile.Cluster, error) {
		client, err := connect()
		if err != nil {
			return nil, err
		}
		return kubecluster.New(client), nil
	}}
	covered := budget.Selector{Namespaces: []string{p.namespace}}
	if s.selects != nil {
		covered = s.selects(p.namespace)
	}
	declared := budget.Declaration{
		Name: budgetName, GPUHours: "100", Window: "24h", CountFrom: s.from,
		Selector: covered, ResourceWeights: map[string]string{"nvidia.com/gpu": "1/10"},
	}.WithDefaults()
	if s.byNode {
		declared.ResourceWeights = nil
	}
	if _, err := process.Budgets().Create(t.Context(), declared); err != nil {
		t.Fatal(err)
	}
	p.observer = observe(t, c, p.namespace, s.from == budget.FromRunning)
	p.reconcile() // the first run: from now on, everything is observed
	return p
}

// seconds is a length of the full scenario, shortened in a quick one.
func (p *play) seconds(n int) time.Duration {
	if !p.full {
		n = max(2, n/6)
	}
	return time.Duration(n) * time.Second
}

// pods is a number of pods, fewer in a quick scenario.
func (p *play) pods(n int) int {
	if !p.full {
		n = max(2, n/5)
	}
	return n
}

// gpupool is the built binary. make hands it in; else it is built here.
var gpupool = sync.OnceValues(func() (string, error) {
	if given := os.Getenv("GPUPOOL_BIN"); given != "" {
		return given, nil
	}
	binary := filepath.Join(os.TempDir(), "gpupool-accuracy")
	out, err := exec.CommandContext(context.Background(), "go", "build", "-o", binary, "../..").CombinedOutput()
	if err != nil {
		err = fmt.Errorf("building gpupool: %w\n%s", err, out)
	}
	return binary, err
})

// program is the built gpupool, with only the store and the cluster.
func (p *play) program(args ...string) *exec.Cmd {
	binary, err := gpupool()
	if err != nil {
		p.Fatal(err)
	}
	cmd := exec.CommandContext(p.Context(), binary, append(args, "--store", p.store, "--kubeconfig", p.cluster.Kubeconfig())...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.TempDir()}
	return cmd
}

// reconcile runs it once, to its end.
func (p *play) reconcile() {
	p.Helper()
	if out, err := p.program("reconcile").CombinedOutput(); err != nil {
		p.Fatalf("gpupool reconcile: %v\n%s", err, out)
	}
}

// killed starts a run and kills it after a while, unless it was quicker.
func (p *play) killed(after time.Duration) {
	p.Helper()
	run := p.program("reconcile")
	if err := run.Start(); err != nil {
		p.Fatal(err)
	}
	time.Sleep(after)
	_ = run.Process.Kill() // SIGKILL
	_ = run.Wait()
}

// twice has two runs at once; one of them may find the other's lock.
func (p *play) twice() {
	p.Helper()
	a, b := p.program("reconcile", "--lock-timeout", "1m"), p.program("reconcile", "--lock-timeout", "1m")
	if err := errors.Join(a.Start(), b.Start(), a.Wait(), b.Wait()); err != nil {
		p.Fatal(err)
	}
}

type answer struct {
	ConsumedMilliGPUSeconds int64  `json:"consumed_milli_gpu_seconds"`
	ErrorBoundGPUHours      string `json:"error_bound_gpu_hours"`
	Pods                    []struct {
		UID       string     `json:"uid"`
		Name      string     `json:"name"`
		Start     time.Time  `json:"start"`
		End       *time.Time `json:"end"`
		EndSource *string    `json:"end_source"`
	} `json:"pods"`
}

func (p *play) usage() answer {
	p.Helper()
	cmd := p.program("usage", budgetName, "-o", "json")
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	if err := cmd.Run(); err != nil {
		p.Fatalf("gpupool usage: %v\n%s", err, errs.Bytes())
	}
	var a answer
	if err := json.Unmarshal(out.Bytes(), &a); err != nil {
		p.Fatalf("%v in\n%s", err, out.Bytes())
	}
	return a
}

// start creates pods that hold a tenth of a GPU each, ten a second.
func (p *play) start(n int, options ...kubetest.PodOption) []*corev1.Pod {
	p.Helper()
	var made []*corev1.Pod
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for i := range n {
		pod := kubetest.Pod(p.namespace, fmt.Sprintf("pod-%02d-%d", i, time.Now().UnixMilli()), append([]kubetest.PodOption{kubetest.GPUs(1)}, options...)...)
		made = append(made, kubetest.Create(p.T, p.cluster, pod))
		<-tick.C
	}
	return made
}

func (p *play) remove(pods []*corev1.Pod) {
	p.Helper()
	for _, pod := range pods {
		if err := p.cluster.Client().CoreV1().Pods(p.namespace).Delete(p.Context(), pod.Name, metav1.DeleteOptions{}); err != nil {
			p.Fatal(err)
		}
	}
}

// untilOver waits until the observer has observed the end of so many pods.
func (p *play) untilOver(n int) {
	p.Helper()
	for deadline := time.Now().Add(4 * time.Minute); p.observer.ended() < n; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			p.Fatalf("%d of %d pods have ended after four minutes", p.observer.ended(), n)
		}
	}
}
