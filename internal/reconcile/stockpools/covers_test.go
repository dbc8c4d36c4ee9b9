package stockpools_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// rewrite replaces what the store has of a budget's record.
func (d *fixture) rewrite(name string, to func(data []byte) []byte) {
	d.t.Helper()
	key := store.Key{Kind: store.Budgets, Name: name}
	doc, err := d.Store().Read(context.Background(), key)
	if err != nil {
		d.t.Fatal(err)
	}
	if _, err := d.Store().Write(context.Background(), key, to(doc.Data), doc.Revision); err != nil {
		d.t.Fatal(err)
	}
}

// redeclare changes a budget's record to what no validation would let through.
func (d *fixture) redeclare(name string, change func(*budget.Declaration)) {
	d.t.Helper()
	d.rewrite(name, func(data []byte) []byte {
		r, err := declaration.Decode[declaration.Budget]("it", data)
		if err != nil {
			d.t.Fatal(err)
		}
		change(&r.Declaration)
		if data, err = declaration.Encode(r); err != nil {
			d.t.Fatal(err)
		}
		return data
	})
}

func damaged([]byte) []byte { return []byte("{") }

func (d *fixture) run() reconcile.Report {
	d.t.Helper()
	d.Cluster.Step(time.Minute)
	r, err := d.Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil {
		d.t.Fatal(err)
	}
	return r
}

// exceed exhausts a budget for these labels by other pods.
func (d *fixture) exceed(name string, labels map[string]string, changes ...func(*budget.Declaration)) {
	d.t.Helper()
	d.Declare(append([]func(*budget.Declaration){func(b *budget.Declaration) {
		b.Name, b.Enforce.Action = name, budget.Pause
		b.Selector = budget.Selector{MatchLabels: labels}
	}}, changes...)...)
	d.Cluster.Start("ml", "other-"+name, 4, ofJob, func(p *gpu.Pod) { p.Labels = labels })
	d.Cluster.Step(2 * time.Hour)
	d.Run()
}

// ofJob is a pod whose Job can be paused.
func ofJob(p *gpu.Pod) {
	p.Owner = &ledger.Owner{APIVersion: "batch/v1", Kind: "Job", Name: p.Name, UID: "uid-of-" + p.Name}
}

// explained is what a run would do about the one pool, and by which budgets.
func (d *fixture) explained() stockpools.Description {
	d.t.Helper()
	x, err := d.Runner().Explain(context.Background(), "stock_pool/"+key)
	if err != nil {
		d.t.Fatal(err)
	}
	if len(x.StockPools) != 1 || x.StockPools[0].Error != nil {
		d.t.Fatalf("explained is %+v", x.StockPools)
	}
	return x.StockPools[0]
}

// TestAPausedPoolStaysPausedWhereItsBudgetCantBeRead, since its usage is unknown.
func TestAPausedPoolStaysPausedWhereItsBudgetCantBeRead(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.budget(budget.Pause)
	d.Run()
	d.create()
	d.is(2, decide.Ready)
	d.uses("train", 4, "uid-of-train")
	d.Cluster.Step(2 * time.Hour)
	d.is(0, decide.Paused)
	d.rewrite("team-a", damaged)
	for range 2 {
		if got := d.report(d.run()); d.replicas() != 0 {
			t.Fatalf("it has %d pods: %+v", d.replicas(), got.Status)
		}
	}
}

// TestABudgetThatCantBeReadHoldsWhatItMayCover: pools that hold GPUs neither grow nor are
// paused. A run reports once which budget it is, and why.
func TestABudgetThatCantBeReadHoldsWhatItMayCover(t *testing.T) {
	t.Parallel()
	unreadable := func(b *budget.Declaration) {
		b.Selector.MatchExpressions = []budget.Expression{{Key: "team", Operator: "Near"}}
	}
	for name, c := range map[string]struct {
		spoil func(*fixture)
		gpus  int
		says  string // nothing where it does not hold
	}{
		"a damaged record": {func(d *fixture) { d.rewrite("team-b", damaged) }, 1, "whether budget/team-b covers it is unknown: "},
		"a selector":       {func(d *fixture) { d.redeclare("team-b", unreadable) }, 1, `"Near" is no operator`},
		"weights": {func(d *fixture) {
			d.redeclare("team-b", func(b *budget.Declaration) { b.ResourceWeights = map[string]string{"a/b": "many"} })
		}, 1, ""},
		"weights of its own": {func(d *fixture) {
			d.redeclare("team-b", func(b *budget.Declaration) {
				b.Selector.MatchLabels, b.ResourceWeights = map[string]string{"team": "a"}, map[string]string{"a/b": "many"}
			})
		}, 1, "resource_weights"},
		"without GPUs": {func(d *fixture) { d.rewrite("team-b", damaged) }, 0, ""},
		"of another cluster": {func(d *fixture) {
			d.redeclare("team-b", func(b *budget.Declaration) { unreadable(b); b.ClusterUID = "another" })
		}, 1, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			d.Declare(func(b *budget.Declaration) { b.Name, b.Selector.MatchLabels = "team-b", map[string]string{"team": "b"} })
			state := d.create(func(p *stockpool.Declaration) { p.GPU = c.gpus })
			d.is(2, decide.Ready)
			c.spoil(d)
			more := state.Declaration
			more.Replicas = 5
			state, err := d.Process().StockPools().Update(context.Background(), more, 0)
			if err != nil {
				t.Fatal(err)
			}
			got := d.report(d.run())
			within := got.Of(decide.WithinBudget)
			if c.says == "" {
				if d.replicas() != 5 || within.Status != "True" {
					t.Errorf("it has %d pods: %+v", d.replicas(), within)
				}
				return
			}
			text := within.Message.String()
			if d.replicas() != 2 || within.Status != "Unknown" || strings.Count(text, "team-b") == 0 || !strings.Contains(text, c.says) {
				t.Errorf("it has %d pods: %+v", d.replicas(), within)
			}
			if len(got.Warnings) > 0 || len(state.Warnings) != 1 || !strings.Contains(state.Warnings[0].String(), within.Message.String()) {
				t.Errorf("a run warns %q, and Terraform %q", got.Warnings, state.Warnings)
			}
		})
	}
}

// TestLiveDeploymentIsCounted: labels that are added to it can put its pods under a
// budget, which leaves them to the pool.
func TestLiveDeploymentIsCounted(t *testing.T) {
	t.Parallel()
	holding := func(name string) corev1.Container {
		return corev1.Container{
			Name: "more", Resources: corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceName(name): resource.MustParse("1")}},
		}
	}
	always := corev1.ContainerRestartPolicyAlways
	for name, c := range map[string]struct {
		declare func(*stockpool.Declaration)
		labels  map[string]string // that the budget selects
		counts  map[string]string
		edit    func(*corev1.PodTemplateSpec)
		covered bool
		pauses  bool
		says    string
	}{
		"nothing": {labels: map[string]string{"team": "b"}, edit: func(*corev1.PodTemplateSpec) {}},
		"a label": {
			labels: map[string]string{"tier": "b"}, edit: func(of *corev1.PodTemplateSpec) { of.Labels["tier"] = "b" }, covered: true, pauses: true,
			says: "because of undeclared labels of its Deployment",
		},
		"label gone": {
			labels: map[string]string{"team": "a"}, edit: func(of *corev1.PodTemplateSpec) { delete(of.Labels, "team") }, covered: true, pauses: true,
			says: "budget/b is used up",
		},
		"protected": {
			labels: map[string]string{"team": "a"}, edit: func(of *corev1.PodTemplateSpec) { of.Labels[budget.ProtectedKey] = "true" }, covered: true,
			says: "budget/b is used up",
		},
		"a limit": {
			declare: func(d *stockpool.Declaration) { d.GPU = 0 }, labels: map[string]string{"team": "a"},
			edit: func(of *corev1.PodTemplateSpec) {
				of.Spec.Containers[0].Resources.Limits["nvidia.com/gpu"] = resource.MustParse("1")
			},
			covered: true, pauses: true, says: "because of undeclared labels of its Deployment",
		},
		"a sidecar": {
			declare: func(d *stockpool.Declaration) { d.GPU = 0 }, labels: map[string]string{"team": "a"},
			edit: func(of *corev1.PodTemplateSpec) {
				c := holding("nvidia.com/mig-1g.5gb")
				c.RestartPolicy = &always
				of.Spec.InitContainers = append(of.Spec.InitContainers, c)
			},
			covered: true, pauses: true, says: "because of undeclared labels of its Deployment",
		},
		"what the pool asks by": {
			declare: func(d *stockpool.Declaration) { d.GPU, d.GPUResource = 0, "example.com/npu" }, labels: map[string]string{"team": "a"},
			edit: func(of *corev1.PodTemplateSpec) {
				of.Spec.Containers = append(of.Spec.Containers, holding("example.com/npu"))
			},
		},
		"what the budget weighs zero": {
			labels: map[string]string{"team": "a"}, counts: map[string]string{"nvidia.com/gpu": "0"}, edit: func(*corev1.PodTemplateSpec) {},
		},
		"what the budget counts": {
			declare: func(d *stockpool.Declaration) { d.GPU = 0 }, labels: map[string]string{"team": "a"}, counts: map[string]string{"example.com/npu": "1"},
			edit: func(of *corev1.PodTemplateSpec) {
				of.Spec.Containers = append(of.Spec.Containers, holding("example.com/npu"))
			},
			covered: true, pauses: true,
		},
		"uncounted pods": {
			declare: func(d *stockpool.Declaration) { d.GPU = 0 }, labels: map[string]string{"team": "a"},
			edit: func(of *corev1.PodTemplateSpec) {
				of.Spec.Containers = append(of.Spec.Containers, holding("example.com/npu"))
			},
		},
		"a claim": {
			declare: func(d *stockpool.Declaration) { d.GPU = 0 }, labels: map[string]string{"team": "a"},
			edit:    func(of *corev1.PodTemplateSpec) { of.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "device"}} },
			covered: true, says: "does not show whether its pods hold GPUs",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newFixture(t)
			if c.declare == nil {
				c.declare = func(*stockpool.Declaration) {}
			}
			d.create(c.declare)
			d.is(2, decide.Ready)
			d.exceed("b", c.labels, func(b *budget.Declaration) { b.ResourceWeights = c.counts })
			of := d.Cluster.Deployment(key).DeepCopy()
			*of.Spec.Replicas = 2
			c.edit(&of.Spec.Template)
			d.Cluster.Put(key, of)
			x := d.explained()
			if !c.covered {
				if len(x.Budgets) > 0 {
					t.Errorf("it is covered: %+v", x.Budgets)
				}
				return
			}
			if len(x.Budgets) != 1 || !x.Budgets[0].Exceeded || x.Budgets[0].Unknown || x.Budgets[0].Pauses != c.pauses ||
				!strings.Contains(x.Budgets[0].Reason.String(), c.says) {
				t.Fatalf("it is covered by %+v", x.Budgets)
			}
			if paused := x.Desired == 0; paused != c.pauses {
				t.Errorf("a run would have it have %d pods: %v", x.Desired, x.Decisions)
			}
		})
	}
}

// TestDriftIsRevertedBeforeABudgetIsJudgedByIt: a label that the next application removes never
// pauses the pool, however often it is added.
func TestDriftIsRevertedBeforeABudgetIsJudgedByIt(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	d.is(2, decide.Ready)
	d.exceed("b", map[string]string{"team": "b"})
	relabel := func() {
		of := d.Cluster.Deployment(key).DeepCopy()
		of.Spec.Template.Labels["team"] = "b"
		d.Cluster.Put(key, of)
	}
	for range 2 {
		relabel()
		r := d.Run()
		var did []string
		for _, decision := range r.Decisions {
			if strings.HasPrefix(decision.Object(), "stock_pool/") {
				did = append(did, decision.Kind())
			}
		}
		if !slices.Equal(did, []string{"revert"}) || d.replicas() != 2 || d.Cluster.Deployment(key).Spec.Template.Labels["team"] != "a" {
			t.Errorf("a run does %q, and it has %d pods", did, d.replicas())
		}
	}
	for _, kind := range []history.Kind{history.Pause, history.Resume, history.GateClosed} {
		if n := d.reported(kind); n > 0 {
			t.Errorf("the history has %d events of %s", n, kind)
		}
	}
	d.Cluster.Hook = faults.Before(func(method string) { // it is added again during the run
		if method == "StockOf" && d.replicas() > 0 {
			relabel()
		}
	})
	d.Cluster.Step(time.Minute)
	relabel()
	if _, err := d.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	if d.replicas() != 0 {
		t.Errorf("drift that comes back within a run is reverted again and again, and the pool has %d pods", d.replicas())
	}
}

// TestSomebodyElsesDeploymentSaysNothingOfThePool, whatever its labels.
func TestSomebodyElsesDeploymentSaysNothingOfThePool(t *testing.T) {
	t.Parallel()
	d := newFixture(t)
	d.create()
	d.is(2, decide.Ready)
	d.exceed("b", map[string]string{"team": "b"})
	of := d.Cluster.Deployment(key).DeepCopy()
	of.UID, of.Spec.Template.Labels["team"] = "foreign", "b"
	d.Cluster.Put(key, of)
	x, err := d.Runner().Explain(context.Background(), "stock_pool/"+key)
	if err != nil || len(x.StockPools) != 1 || len(x.StockPools[0].Budgets) > 0 {
		t.Errorf("it is covered: %+v, %v", x.StockPools, err)
	}
}
