package cli_test

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// TestNoticeWatch: as on an instance, from the notice to the mark, until it is stopped.
func TestNoticeWatch(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	cluster := kubetest.Start(t)
	id := cvmsimtest.NewClient(t, w.sim).Run(cvmsimtest.Object{})[0]
	kubetest.Create(t, cluster, kubetest.Node(id, 8))
	p := w.start("notice-watch", "--node", id, "--metadata-endpoint", w.sim.URL, "--interval", "1s", "--kubeconfig", cluster.Kubeconfig(), "--log-format",
		"json")
	eventually(t, "it watches", func() bool { return strings.Contains(p.stderr(), "watching for an interruption notice") })
	if _, err := w.sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: []string{id}, Notice: cvmsim.Duration(2 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the node is marked", func() bool {
		n, err := cluster.Client().CoreV1().Nodes().Get(t.Context(), id, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range n.Status.Conditions {
			if c.Type == "GpupoolReclaim" && c.Status == "True" {
				return true
			}
		}
		return false
	})
	eventually(t, "that is logged", func() bool { return strings.Contains(p.stderr(), `"msg":"notice marked","node":"`+id+`"`) })
	p.signal(t, syscall.SIGTERM)
	if code := p.exitCode(t); code != 143 || p.stdout() != "" {
		t.Errorf("the exit code is %d\n%s%s", code, p.stdout(), p.stderr())
	}
}

func TestNoticeWatchRefuses(t *testing.T) {
	t.Parallel()
	w := newWorld(t, t.TempDir())
	for says, args := range map[string][]string{
		"--node is missing: set it, or NODE_NAME":          {},
		"--interval must be from 1s to 30s":                {"--node", "a", "--interval", "1m"},
		`invalid address of a metadata service "metadata"`: {"--node", "a", "--metadata-endpoint", "metadata"},
		fmt.Sprintf("unexpected argument %q", "now"):       {"now"},
	} {
		p := w.start(append([]string{"notice-watch"}, args...)...)
		if code := p.exitCode(t); code != 64 || !strings.Contains(p.stderr(), says) {
			t.Errorf("%q: exit code %d, not 64 and %s\n%s", args, code, says, p.stderr())
		}
	}
	p := w.start("notice-watch", "--node", "a")
	if code := p.exitCode(t); code != 1 || !strings.Contains(p.stderr(), "no Kubernetes cluster is configured") {
		t.Errorf("without a cluster: exit code %d\n%s", code, p.stderr())
	}
}
