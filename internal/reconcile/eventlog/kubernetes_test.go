package eventlog_test

import (
	"context"
	"sync"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/kubernetes"
)

// TestANamespaceKeepsIt: what a directory does, with two who add at once, a head that
// gets full, and a day that is over.
func TestANamespaceKeepsIt(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: cluster.Kubeconfig()}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	s, err := kubernetes.Open(t.Context(), client, cluster.Namespace(t), kubernetes.Options{Create: true, Command: "gpupool test"})
	if err != nil {
		t.Fatal(err)
	}
	events := many(noon, 6000)
	var group sync.WaitGroup
	for _, half := range [][]history.Event{events[:3000], events[3000:]} {
		group.Go(func() {
			for n := 0; n < len(half); n += 1500 {
				if got := at(s, noon).Add(context.Background(), half[n:n+1500]...); len(got.Warnings) > 0 {
					t.Errorf("warnings: %q", got.Warnings)
				}
			}
		})
	}
	group.Wait()
	expect(t, at(s, noon), events)
	if got := len(names(t, s)); got < 3 {
		t.Errorf("%d documents", got)
	}
	next := began(noon.AddDate(0, 0, 1), 1)
	add(t, at(s, next.At), next)
	expect(t, at(s, next.At), events, []history.Event{next})
	if got := names(t, s); len(got) != 2 {
		t.Errorf("of a day that is over there are %q", got)
	}
}
