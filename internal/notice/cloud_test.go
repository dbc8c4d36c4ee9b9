package notice_test

import (
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/notice"
)

// TestLocalCVMReclaimsAnInstance: its agent marks its own node on the API server, and
// the agent of another instance does nothing.
func TestLocalCVMReclaimsAnInstance(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t, cvmsimtest.Slow)
	ids := cvmsimtest.NewClient(t, sim).Run(cvmsimtest.Object{"InstanceCount": 2})
	server := kubetest.Start(t)
	client, err := kubeclient.Open(kubeclient.Config{ConfigPath: server.Kubeconfig()}, "gpupool/test")
	if err != nil {
		t.Fatal(err)
	}
	cluster := kubecluster.New(client)
	agents := map[string]*notice.Agent{}
	for _, id := range ids {
		kubetest.Create(t, server, kubetest.Node(id, 8))
		metadata, err := notice.NewMetadata(sim.URL+"?instance_id="+id, notice.DefaultTimeout)
		if err != nil {
			t.Fatal(err)
		}
		agents[id] = &notice.Agent{
			Node: id, Metadata: metadata, Cluster: cluster, Interval: time.Second, Now: sim.Server.Now,
			Log: slog.New(slog.DiscardHandler), Warn: func(text string) {
				if !strings.Contains(text, "reclaims the instance") {
					t.Errorf("told is %s", text)
				}
			},
		}
	}
	step := func() {
		for _, agent := range agents {
			agent.Step(t.Context())
		}
	}
	step()
	if _, err := sim.Server.Reclaim(cvmsim.ReclaimRequest{InstanceIDs: ids[:1], Notice: cvmsim.Duration(2 * time.Minute)}); err != nil {
		t.Fatal(err)
	}
	step()
	want := sim.Server.Now().Add(2 * time.Minute)
	for n, id := range ids {
		at, marked, err := cluster.Notice(t.Context(), id)
		if taken := n == 0; err != nil || marked != taken || taken && at.Sub(want).Abs() > 2*time.Second {
			t.Errorf("%s has the mark %v, %t (%v), and the instance terminates at %v", id, at, marked, err, want)
		}
	}
	live, err := server.Client().CoreV1().Nodes().Get(t.Context(), ids[0], metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var taints []string
	for _, taint := range live.Spec.Taints {
		taints = append(taints, taint.Key+":"+string(taint.Effect))
	}
	if !slices.Contains(taints, "gpupool/reclaim:NoSchedule") {
		t.Errorf("the taints are %q", taints)
	}
}
