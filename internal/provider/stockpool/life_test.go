package stockpool_test

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-testing/compare"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
)

func TestMain(m *testing.M) { providertest.Main(m) }

const (
	address = "gpupool_stock_pool.g1"
	data    = "data.gpupool_stock_pool.g1"
)

type attributes map[string]string

// scene is a namespace of the cluster, and what is declared there.
type scene struct {
	*providertest.World
	t         *testing.T
	namespace string
}

func newScene(t *testing.T) *scene {
	t.Helper()
	w := providertest.NewWithCluster(t)
	return &scene{World: w, t: t, namespace: w.Cluster.Namespace(t)}
}

// pool is a stock pool of two pods, with arguments over the usual ones; empty ones are
// left out.
func (s *scene) pool(changes ...attributes) string {
	all := attributes{
		"name": `"pool-g1"`, "namespace": fmt.Sprintf("%q", s.namespace), "spec_name": `"g1.1"`, "image": `"registry.example.com/team/runtime:1"`,
		"memory": `"1Gi"`, "gpu": "1", "replicas": "2", "labels": `{ team = "a" }`,
	}
	return s.BudgetConfig(providertest.Block("gpupool_stock_pool", "g1", all, changes...))
}

const dataSource = `
data "gpupool_stock_pool" "g1" {
  name      = gpupool_stock_pool.g1.name
  namespace = gpupool_stock_pool.g1.namespace
}
`

func (s *scene) deployment() *appsv1.Deployment {
	s.t.Helper()
	of, err := s.Cluster.Client().AppsV1().Deployments(s.namespace).Get(context.Background(), "pool-g1", metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		s.t.Fatal(err)
	}
	return of
}

func (s *scene) patch(change string) {
	s.t.Helper()
	_, err := s.Cluster.Client().AppsV1().Deployments(s.namespace).Patch(context.Background(), "pool-g1", types.StrategicMergePatchType, []byte(change),
		metav1.PatchOptions{FieldManager: "kubectl-edit"})
	if err != nil {
		s.t.Fatal(err)
	}
}

func run(t *testing.T, steps ...resource.TestStep) {
	t.Helper()
	resource.UnitTest(t, resource.TestCase{ProtoV6ProviderFactories: providertest.Factories(), Steps: steps})
}

func planned(a plancheck.ResourceActionType) resource.ConfigPlanChecks {
	return resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address, a)}}
}

func is(of, name string, want knownvalue.Check) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(of, tfjsonpath.New(name), want)
}

func number(of, name string, n int64) statecheck.StateCheck {
	return is(of, name, knownvalue.Int64Exact(n))
}

func message(words string) *regexp.Regexp {
	return regexp.MustCompile(`(?i)` + strings.Join(strings.Fields(regexp.QuoteMeta(words)), `[\s│]+`))
}

func TestLifeOfAStockPool(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	same := statecheck.CompareValue(compare.ValuesSame())
	kept := func() statecheck.StateCheck { return same.AddStateValue(address, tfjsonpath.New("deployment_uid")) }
	run(t,
		resource.TestStep{
			Config:           s.pool() + dataSource,
			ConfigPlanChecks: planned(plancheck.ResourceActionCreate),
			ConfigStateChecks: []statecheck.StateCheck{
				kept(), number(address, "generation", 1), is(address, "pod_security_level", knownvalue.StringExact("restricted")),
				is(data, "phase", knownvalue.StringExact("Ready")), number(data, "desired", 2), number(data, "available", 2), number(data, "allocated", 0),
			},
		},
		resource.TestStep{ // another way of saying the same
			Config:           s.pool(attributes{"memory": `"1024Mi"`}) + dataSource,
			ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{
			Config:            s.pool(attributes{"replicas": "3", "env": `{ A = "b" }`, "pod_disruption_budget": `{ min_available = 1 }`}),
			ConfigPlanChecks:  planned(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{kept(), number(address, "generation", 2)},
		},
		resource.TestStep{ // an apply reverts drift and declares nothing
			PreConfig:         func() { s.patch(`{"spec":{"replicas":1}}`) },
			Config:            s.pool(attributes{"replicas": "3", "env": `{ A = "b" }`, "pod_disruption_budget": `{ min_available = 1 }`}),
			ConfigPlanChecks:  planned(plancheck.ResourceActionUpdate),
			ConfigStateChecks: []statecheck.StateCheck{kept(), number(address, "generation", 2)},
		},
		resource.TestStep{
			ResourceName: address, ImportState: true, ImportStateId: s.namespace + "/pool-g1", ImportStateVerify: true,
			ImportStateVerifyIdentifierAttribute: "name",
		},
	)
	if of := s.deployment(); of != nil {
		t.Errorf("its Deployment is left: %+v", of.Status)
	}
}

func TestADeploymentIsTakenOver(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	theirs := kubetest.Deployment(s.namespace, "pool-g1", 1, kubetest.GPUs(1))
	main := &theirs.Spec.Template.Spec.Containers[0]
	main.Env, main.Ports = []corev1.EnvVar{{Name: "A", Value: "theirs"}}, []corev1.ContainerPort{{ContainerPort: 8080}}
	theirs.Spec.Template.Spec.NodeSelector = map[string]string{"kubernetes.io/os": "linux"}
	made := kubetest.Create(t, s.Cluster, theirs)
	config := s.pool(attributes{"pod_security_level": `"baseline"`, "labels": `{ team = "a", app = "pool-g1" }`})
	gone := func(name string) plancheck.PlanCheck {
		return plancheck.ExpectKnownValue(address, tfjsonpath.New(name), knownvalue.Null())
	}
	run(t,
		resource.TestStep{
			Config:      config,
			ExpectError: message("is not managed by gpupool and was not changed"),
		},
		resource.TestStep{
			Config: config, ResourceName: address, ImportState: true, ImportStateId: s.namespace + "/pool-g1", ImportStatePersist: true,
		},
		resource.TestStep{
			Config:      s.pool(attributes{"pod_security_level": `"baseline"`}),
			ExpectError: message("selects its pods by app=pool-g1, which is immutable"),
		},
		resource.TestStep{
			Config: config,
			ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{plancheck.ExpectResourceAction(address,
				plancheck.ResourceActionUpdate), gone("env"), gone("ports"), gone("node_selector")}},
			ConfigStateChecks: []statecheck.StateCheck{
				is(address, "deployment_uid", knownvalue.StringExact(string(made.UID))), number(address, "generation", 1),
			},
		},
		resource.TestStep{
			PreConfig: func() {
				spec := s.deployment().Spec.Template.Spec
				if main := spec.Containers[0]; len(main.Env) > 0 || len(main.Ports) > 0 || len(spec.NodeSelector) > 0 {
					t.Errorf("what the plan showed as removed is there: %+v", spec)
				}
			},
			Config: config, ConfigPlanChecks: planned(plancheck.ResourceActionNoop),
		},
		resource.TestStep{ // the plan removes what was added
			PreConfig:        func() { s.patch(`{"spec":{"template":{"spec":{"nodeSelector":{"kubernetes.io/os":"linux"}}}}}`) },
			Config:           config,
			ConfigPlanChecks: planned(plancheck.ResourceActionUpdate),
		},
	)
	if of := s.deployment(); of != nil {
		t.Error("it is left, although it became gpupool's")
	}
}

// TestBadInput is refused as early as it can be known, and nothing is left of it.
func TestBadInput(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	budget := func(selector string) string {
		return fmt.Sprintf("\nresource \"gpupool_budget\" \"b\" {\n  name = \"b\"\n  gpu_hours = \"100\"\n  window = \"24h\"\n  selector = %s\n}\n", selector)
	}
	refused := func(config, says string) resource.TestStep {
		return resource.TestStep{Config: config, ExpectError: message(says)}
	}
	run(t,
		refused(s.pool(attributes{"memory": `"lots"`}), `"lots" is not a quantity`),
		refused(s.pool(attributes{"gpu": "-1"}), "-1 is out of range"),
		refused(s.pool(attributes{"image": `"Not An Image"`}), "is not an image reference"),
		refused(s.pool(attributes{"replicas_policy": `"available"`, "allocated_selector": `"session"`}), "requires maximum"),
		refused(s.pool(attributes{"namespace": `"no-such-namespace"`}), "has no namespace no-such-namespace"),
		resource.TestStep{Config: s.BudgetConfig(budget(`{ namespaces = ["elsewhere"] }`))},
		refused(s.pool(attributes{"budget": `"b"`})+budget(`{ namespaces = ["elsewhere"] }`), "whose selector does not take its pods"),
	)
	if s.deployment() != nil {
		t.Error("something was made")
	}
}

// TestARunRevertsDrift, even if everything was deleted.
func TestARunRevertsDrift(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	var before types.UID
	run(t,
		resource.TestStep{Config: s.pool()},
		resource.TestStep{
			PreConfig: func() {
				before = s.deployment().UID
				if err := s.Cluster.Client().AppsV1().Deployments(s.namespace).Delete(context.Background(), "pool-g1", metav1.DeleteOptions{}); err != nil {
					t.Fatal(err)
				}
				report, err := s.Process().Runner().Run(context.Background(), reconcile.RunOptions{})
				if err != nil || len(report.StockPools) != 1 || report.StockPools[0].Error != nil {
					t.Fatalf("a run: %+v, %v", report.StockPools, err)
				}
				if of := s.deployment(); of == nil || of.UID == before || *of.Spec.Replicas != 2 {
					t.Fatalf("it was not created again: %+v", of)
				}
			},
			Config:            s.pool(),
			ConfigPlanChecks:  planned(plancheck.ResourceActionNoop),
			ConfigStateChecks: []statecheck.StateCheck{number(address, "generation", 1)},
		},
	)
}
