//go:build unix

package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"regexp"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// BenchmarkPods compares a full scan of many pods with their plain download. Then it measures
// runs of reconcile over a budget for all of them: the first one, and one after changes. Each
// size has the pods of the one before it.
func BenchmarkPods(b *testing.B) {
	const ledger = "gpupool-system"
	c := startCluster(b)
	place := openNamespace(b, c, ledger)
	d := budgetOf(0, c.uid, budget.Selector{MatchLabels: map[string]string{"team": "a"}})
	write(b, place, store.Budgets, d.Key(), active(d))
	overLedger := func(b *testing.B, name string) ran {
		r := reconcile(b, nil, "--store", "kubernetes:"+ledger, "--kubeconfig", c.Kubeconfig())
		if len(r.Budgets) != 1 {
			b.Fatalf("the run reported %d budgets, want one", len(r.Budgets))
		}
		report(b, name, r.took, nil)
		return r
	}
	at(b, "pods", []int{10_000, 30_000, 100_000}, func(b *testing.B, pods int) {
		c.grow(b, pods)
		compare(b, run{"download", func() figures { return child(b, c, "download") }}, run{"scan", func() figures { return child(b, c, "scan") }})
		c.change(b, min(3000, pods*3/10)) // no cluster of this size is idle
		overLedger(b, "first-run")
		changes := min(1000, pods/10)
		c.change(b, changes)
		if r := overLedger(b, fmt.Sprintf("run-after-%d-changes", changes)); r.Calls["list pods"] > 1 {
			b.Fatalf("the run after %d changes listed all pods: it could not replay them", changes)
		}
	})
}

func openNamespace(b *testing.B, c *cluster, namespace string) store.Store {
	b.Helper()
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: c.Kubeconfig()}, "gpupool-bench")
	check(b, err)
	place, err := kubernetes.Open(b.Context(), client, namespace, kubernetes.Options{Create: true, Command: "bench"})
	check(b, err)
	return place
}

func budgetOf(n int, cluster string, of budget.Selector) budget.Declaration {
	return budget.Declaration{
		Name: fmt.Sprintf("budget-%04d", n), UID: fmt.Sprintf("%032x", n+1), Generation: 1, ClusterUID: cluster, GPUHours: "1000000", Window: "24h",
		Selector: of, Enforce: budget.Enforcement{Action: budget.AlertOnly},
	}.WithDefaults()
}

// child observes the pods in a process of its own, to measure only the memory of that. The time
// excludes the process's start.
func child(b *testing.B, c *cluster, what string) figures {
	b.Helper()
	took, out := must(b, exec.CommandContext(b.Context(), self, what, c.Kubeconfig()))
	var seconds, pages float64
	_, err := fmt.Sscan(string(out), &seconds, &pages)
	check(b, err)
	took["s"], took["pages"] = seconds, pages
	return took
}

// inChild does it in this process, and prints the seconds and pages that it took.
func inChild(look func(context.Context, *kubeclient.Client) error) func(context.Context, []string) error {
	return func(ctx context.Context, args []string) error {
		client, err := kubeclient.Open(kubeclient.Config{ConfigPath: args[0]}, "gpupool-bench")
		if err != nil {
			return err
		}
		if _, err := client.UID(ctx); err != nil { // the connection is there already
			return err
		}
		started := time.Now()
		if err := look(ctx, client); err != nil {
			return err
		}
		fmt.Println(time.Since(started).Seconds(), client.Calls()["list pods"])
		return nil
	}
}

func scan(ctx context.Context, client *kubeclient.Client) error {
	seen, err := kubecluster.New(client).Observe(ctx, gpu.ObserveOptions{List: true})
	if err == nil && len(seen.Pods) == 0 {
		err = errors.New("no pod with GPUs was seen")
	}
	return err
}

// continueToken finds the token in the first bytes of a page in protobuf, where its ListMeta
// is. It is a JSON object in base64, and the next byte is outside of that alphabet.
var continueToken = regexp.MustCompile(`eyJ[\w-]{20,}`)

// download gets the same pages in the same encoding, and drops their pods.
func download(ctx context.Context, client *kubeclient.Client) error {
	const pageSize = "5000" // gpupool's own
	for token := ""; ; {
		request := client.Kubernetes().CoreV1().RESTClient().Get().Resource("pods").Param("limit", pageSize).
			SetHeader("Accept", "application/vnd.kubernetes.protobuf")
		if token != "" {
			request.Param("continue", token)
		}
		body, err := request.Stream(ctx)
		if err != nil {
			return err
		}
		head := make([]byte, 512)
		if _, err = io.ReadFull(body, head); err == nil {
			_, err = io.Copy(io.Discard, body)
		}
		_ = body.Close()
		if token = string(continueToken.Find(head)); err != nil || token == "" {
			return err
		}
	}
}
