//go:build prometheus

package main

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/endtoend/processtest"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const (
	zone         = "ap-singapore-2"
	instanceType = "GN7.2XLARGE32"
)

// story is a pool of a local CVM, and a budget and a stock pool of a cluster, which a gpupool serve
// reconciles.
type story struct {
	t         *testing.T
	server    *kubetest.Cluster
	sim       *cvmsimtest.Sim
	process   reconcile.World
	namespace string
	budget    budget.Declaration
	serving   string // its address
}

func newStory(t *testing.T) *story {
	t.Helper()
	s := &story{t: t, server: kubetest.StartOwn(t, "--nodes=2", "--gpus-per-node=16")}
	s.sim = cvmsimtest.Start(t, func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = -1, -1 })
	s.setStock(100)
	place := processtest.Place{Dir: t.TempDir() + "/store", Kubeconfig: s.server.Kubeconfig(), CVM: s.sim.URL}
	s.process, s.namespace = place.Process(t, "terraform"), s.server.Namespace(t)
	s.installFreezes()
	s.declare()
	env := append(os.Environ(), "XDG_CONFIG_HOME="+t.TempDir())
	for name, value := range place.Environment() {
		env = append(env, name+"="+value)
	}
	printed := start(t, program(t, "gpupool"), env, "serve", "--listen", "127.0.0.1:0", "--every", "1s")
	kubetest.WaitFor(t, "gpupool serve", func(context.Context) error {
		text, err := os.ReadFile(printed)
		_, address, found := strings.Cut(strings.TrimSpace(string(text)), " at http://")
		if err == nil && !found {
			err = errors.New("it does not listen")
		}
		s.serving = address
		return err
	})
	return s
}

// setStock sets how many more instances Tencent Cloud can launch.
func (s *story) setStock(n int64) {
	s.t.Helper()
	quota := int64(1000)
	if err := s.sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: instanceType, Stock: &n, VCPUQuota: &quota}); err != nil {
		s.t.Fatal(err)
	}
}

func (s *story) installFreezes() {
	s.t.Helper()
	admission := s.server.Client().AdmissionregistrationV1()
	if _, err := admission.ValidatingAdmissionPolicies().Create(s.t.Context(), kubecluster.FreezePolicy(), metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	for _, slot := range kubecluster.FreezeSlots(len(kubecluster.FreezeSlotNames())) {
		if _, err := admission.ValidatingAdmissionPolicyBindings().Create(s.t.Context(), slot, metav1.CreateOptions{}); err != nil {
			s.t.Fatal(err)
		}
	}
}

func (s *story) declare() {
	s.t.Helper()
	pool := spotpool.Declaration{
		Name: "train", Region: "ap-singapore", Minimum: 2, Maximum: 3, Nodes: &spotpool.Nodes{}, Cooldown: spotpool.Duration(time.Second),
		Offerings:     []spotpool.Offering{{AvailabilityZone: zone, InstanceType: instanceType, SubnetID: "subnet-a1b2c3d4"}},
		Configuration: spotpool.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4"},
	}
	if _, err := s.process.SpotPools().Create(s.t.Context(), pool.WithDefaults(), time.Minute); err != nil {
		s.t.Fatal(err)
	}
	b := budget.Declaration{
		Name: "team-a", GPUHours: "1000", Window: "24h", Selector: budget.Selector{Namespaces: []string{s.namespace}},
		Enforce: budget.Enforcement{Action: budget.Freeze, GracePeriod: "0s"},
	}
	state, err := s.process.Budgets().Create(s.t.Context(), b.WithDefaults())
	if err != nil {
		s.t.Fatal(err)
	}
	s.budget = state.Declaration
	stock := stockpool.Declaration{
		Name: "g1", Namespace: s.server.Namespace(s.t), SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "1Gi", GPU: 1, Replicas: 2,
		AllocatedSelector: "session",
	}
	if _, err := s.process.StockPools().Create(s.t.Context(), stock.WithDefaults(), 0); err != nil {
		s.t.Fatal(err)
	}
	if _, err := s.process.Jobs().Submit(s.t.Context(), request.Request{Run: &request.Run{}}, "ann", ""); err != nil {
		s.t.Fatal(err)
	}
	s.server.WaitRunning(s.t, kubetest.Create(s.t, s.server, kubetest.Pod(s.namespace, "notebook-0", kubetest.GPUs(8))))
}

// setLimit changes the limit of the budget.
func (s *story) setLimit(hours string) {
	s.t.Helper()
	s.budget.GPUHours = hours
	state, err := s.process.Budgets().Update(s.t.Context(), s.budget)
	if err != nil {
		s.t.Fatal(err)
	}
	s.budget = state.Declaration
}

// TestBoardsAndAlerts plays a story to a Prometheus that scrapes gpupool serve. A pool is short and a
// budget exceeded, until both recover. Their alerts fire and resolve, no other one fires, and each query
// of each panel has data.
func TestBoardsAndAlerts(t *testing.T) {
	t.Parallel()
	s := newStory(t)
	p := startPrometheus(t, s.serving)
	kubetest.WaitFor(t, "a healthy store", func(context.Context) error {
		if p.series(`gpupool_budget_burn_rate_gpus == 8`, true) != 1 || p.series(`gpupool_stock_pool_available == 2`, true) != 1 {
			return errors.New("the usage or the stock pool is not measured")
		}
		return nil
	})

	s.setStock(0)
	if _, err := s.sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train"}); err != nil {
		t.Fatal(err)
	}
	s.setLimit("0.001")
	p.waitFiring("GpupoolPoolShort", "Spot pool ap-singapore/train is short of instances: 1")
	kubetest.WaitFor(t, "GpupoolBudgetExceeded to fire", func(context.Context) error {
		if summary := p.firing()["GpupoolBudgetExceeded"]; !strings.HasPrefix(summary, "Budget team-a is exceeded: ") {
			return errors.New(summary)
		}
		return nil
	})
	if p.series(`gpupool_refused_launches_total{class="capacity"} > 0`, true) != 1 {
		t.Error("the refused launches are not counted")
	}
	for _, name := range slices.Sorted(maps.Keys(p.firing())) {
		switch name {
		case "GpupoolPoolShort", "GpupoolBudgetExceeded", "GpupoolBudgetThreshold":
		default:
			t.Errorf("%s fires: %s", name, p.firing()[name])
		}
	}

	s.setStock(100)
	s.setLimit("1000")
	p.waitResolved("GpupoolPoolShort")
	p.waitResolved("GpupoolBudgetExceeded")
	for expr, what := range map[string]string{
		`gpupool_launched_instances_total{charge_type="SPOTPAID"} == 3`: "three launches", `gpupool_lost_instances_total == 1`: "one lost instance",
		`gpupool_jobs_total{state="succeeded"} == 1`: "one job",
	} {
		if p.series(expr, true) != 1 {
			t.Errorf("%s are not counted: %s", what, expr)
		}
	}
	p.checkBoards()
}
