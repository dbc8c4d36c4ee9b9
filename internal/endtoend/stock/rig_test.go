package stock

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

const poolName = "pool-g1"

// rig is a store in a cluster with the accounts of gpupool manifests. Terraform uses one
// account, and the CLI the other.
type rig struct {
	t         *testing.T
	server    *kubetest.Cluster
	namespace string // of the pods
	work      *providertest.Directory
	run       string // the kubeconfig of runs
	audit     *audit
}

func newRig(t *testing.T, server *kubetest.Cluster) *rig {
	t.Helper()
	r := &rig{t: t, server: server, namespace: server.Namespace(t)}
	r.audit = &audit{namespace: r.namespace}
	o := manifests.Options{
		Namespace: server.Namespace(t), Image: "gpupool", Schedule: manifests.DefaultSchedule, Timeout: manifests.DefaultTimeout,
		Enforcement: budget.Pause, CredentialsSecret: manifests.DefaultCredentialsSecret, FreezeSlots: 1,
		Stock: manifests.Stock{Pools: true, Namespaces: []string{r.namespace}},
	}
	r.install(o)
	place := manifests.RunNamespaceOf(o.Namespace)
	r.run = r.audit.kubeconfig(t, server, place, manifests.ReconcileAccount)
	world := providertest.New(t)
	world.Cluster = server
	r.work = world.Terraform()
	r.work.Setenv("GPUPOOL_STORE", "kubernetes:"+o.Namespace)
	r.work.Setenv("KUBE_CONFIG_PATH", r.audit.kubeconfig(t, server, place, manifests.TerraformAccount))
	kubetest.WaitFor(t, "the rights to be in force", func(context.Context) error {
		if done := r.work.Run("gpupool", "reconcile", "--kubeconfig", r.run); done.Code != 0 {
			return errors.New(done.Stderr)
		}
		return nil
	})
	return r
}

// install applies what is printed, but for what several stores of a cluster share and
// another scene has applied.
func (r *rig) install(o manifests.Options) {
	r.t.Helper()
	all, err := manifests.Objects(o)
	if err != nil {
		r.t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(r.server.Config())
	if err != nil {
		r.t.Fatal(err)
	}
	for _, object := range all {
		plain, err := manifests.Plain(object.Object)
		if err != nil {
			r.t.Fatal(err)
		}
		resource, _ := meta.UnsafeGuessKindToResource(plain.GroupVersionKind())
		made := client.Resource(resource).Namespace(plain.GetNamespace())
		if _, err := made.Create(r.t.Context(), plain, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			r.t.Fatalf("%s %s: %v", plain.GetKind(), plain.GetName(), err)
		}
		if plain.GetNamespace() == "" && !strings.HasPrefix(plain.GetName(), "gpupool-freeze") {
			r.t.Cleanup(func() {
				_ = made.Delete(context.Background(), plain.GetName(), metav1.DeleteOptions{})
			})
		}
	}
}

type attributes map[string]string

// pool is the configuration of the scene's pool of two pods, with arguments over the
// usual ones.
func (r *rig) pool(changes ...attributes) string {
	all := attributes{
		"name": `"` + poolName + `"`, "namespace": `"` + r.namespace + `"`, "spec_name": `"g1.1"`, "image": `"registry.example.com/team/runtime:1"`,
		"memory": `"1Gi"`, "gpu": "1", "replicas": "2", "labels": `{ team = "a" }`, "allocated_selector": `"session"`,
	}
	for _, c := range changes {
		maps.Copy(all, c)
	}
	var b strings.Builder
	b.WriteString("resource \"gpupool_stock_pool\" \"g1\" {\n")
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&b, "  %s = %s\n", name, all[name])
	}
	return b.String() + "}\n"
}

func (r *rig) apply(parts ...string) {
	r.t.Helper()
	r.work.Write(strings.Join(parts, ""))
	r.work.Apply()
}

// refuses fails if an apply succeeds, or fails without this reason.
func (r *rig) refuses(says, configuration string) {
	r.t.Helper()
	r.work.Write(configuration)
	done := r.work.Run("terraform", "apply", "-auto-approve", "-input=false", "-no-color")
	if text := words(done.Stderr); done.Code == 0 || !strings.Contains(text, says) {
		r.t.Errorf("an apply ended with %d, and does not say %q:\n%s", done.Code, says, done.Stderr)
	}
}

// words is a text without the frame and the lines of a terminal.
func words(text string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(text)), " ")
}

// settled fails where a plan would change something.
func (r *rig) settled() {
	r.t.Helper()
	if done := r.work.Run("terraform", "plan", "-input=false", "-no-color", "-detailed-exitcode"); done.Code != 0 {
		r.t.Errorf("a plan is not empty:\n%s%s", done.Stdout, done.Stderr)
	}
}

// report is the part of a run's report that tests check.
type report struct {
	Decisions []struct {
		Kind, Outcome string
		Reasons       reason.Reasons
	}
	StockPools []struct {
		Name, Outcome string
		decide.Status
	} `json:"stock_pools"`
	Budgets []struct {
		Name     string
		Exceeded *bool
	}
}

// reconcile is gpupool reconcile, which must succeed.
func (r *rig) reconcile() report {
	r.t.Helper()
	done := r.work.Must("gpupool", "reconcile", "--kubeconfig", r.run, "-o", "json")
	var told report
	if err := json.Unmarshal([]byte(done.Stdout), &told); err != nil {
		r.t.Fatal(err)
	}
	return told
}

// decided are the decisions of a report about the pool, with their reasons.
func (told report) decided() string {
	var lines []string
	for _, d := range told.Decisions {
		lines = append(lines, d.Outcome+" "+d.Kind+": "+strings.Join(d.Reasons.Texts(), "; "))
	}
	return strings.Join(lines, "\n")
}

// is fails unless the pool is in a phase.
func (told report) is(t *testing.T, want decide.Phase) {
	t.Helper()
	if len(told.StockPools) != 1 || told.StockPools[0].Phase != want {
		t.Errorf("the pool is %+v, want it %s", told.StockPools, want)
	}
}

// says fails if a decision lacks one of the texts.
func (r *rig) says(told report, texts ...string) {
	r.t.Helper()
	for _, text := range texts {
		if !strings.Contains(told.decided(), text) {
			r.t.Errorf("nothing says %q:\n%s", text, told.decided())
		}
	}
}

func (r *rig) somebody(as types.PatchType, manager, patch string, subresource ...string) {
	r.t.Helper()
	_, err := r.server.Client().AppsV1().Deployments(r.namespace).Patch(r.t.Context(), poolName, as, []byte(patch), metav1.PatchOptions{FieldManager: manager},
		subresource...)
	if err != nil {
		r.t.Fatal(err)
	}
}

// deployment is the one by the pool's name; nil where there is none.
func (r *rig) deployment() *appsv1.Deployment {
	r.t.Helper()
	of, err := r.server.Client().AppsV1().Deployments(r.namespace).Get(r.t.Context(), poolName, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return of
}

// ready waits until so many pods are ready, and no others there, and returns them.
func (r *rig) ready(count int) []corev1.Pod {
	r.t.Helper()
	var pods []corev1.Pod
	kubetest.WaitFor(r.t, fmt.Sprintf("%d ready pods", count), func(ctx context.Context) error {
		list, err := r.server.Client().CoreV1().Pods(r.namespace).List(ctx, metav1.ListOptions{})
		if err != nil {
			return err
		}
		pods = list.Items
		for _, p := range pods {
			if !isReady(p) {
				return fmt.Errorf("%s is %s", p.Name, p.Status.Phase)
			}
		}
		if len(pods) != count {
			return fmt.Errorf("there are %d", len(pods))
		}
		return nil
	})
	return pods
}

func isReady(p corev1.Pod) bool {
	return p.DeletionTimestamp == nil && slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// nothingLeft waits until nothing of the pool is in the namespace.
func (r *rig) nothingLeft() {
	r.t.Helper()
	r.ready(0)
	if r.deployment() != nil {
		r.t.Error("its Deployment is left")
	}
	kubetest.WaitFor(r.t, "its disruption budget to go", func(ctx context.Context) error {
		list, err := r.server.Client().PolicyV1().PodDisruptionBudgets(r.namespace).List(ctx, metav1.ListOptions{})
		if err == nil && len(list.Items) > 0 {
			err = errors.New("it is there")
		}
		return err
	})
}

// later runs until a report is as asked.
func (r *rig) later(what string, is func(report) bool) (told report) {
	r.t.Helper()
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(200 * time.Millisecond) {
		if told = r.reconcile(); is(told) {
			return told
		}
		if time.Now().After(deadline) {
			r.t.Fatalf("no run came to %s: %+v\n%s", what, told.StockPools, told.decided())
		}
	}
}
