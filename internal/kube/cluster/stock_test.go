package cluster_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

func stockIn(namespace string, changes ...func(*stockpool.Declaration)) stockpool.Declaration {
	d := stockpool.Declaration{
		Name: "pool-g1", Namespace: namespace, UID: "0123456789abcdef0123456789abcdef", SpecName: "g1.1",
		Image: "registry.example.com/team/runtime:1", Memory: "1Gi", GPU: 1, Replicas: 2, Labels: map[string]string{"team": "a"},
		Env: map[string]string{"A": "1", "B": ""}, PodDisruptionBudget: &stockpool.PodDisruptionBudget{MinAvailable: 1},
	}
	for _, change := range changes {
		change(&d)
	}
	return d.WithDefaults()
}

// TestStockPoolDeploymentLifecycle creates a Deployment once, fills it, finds it in sync in a dry run,
// changes, guards and deletes it. Each call is for exactly the observed object.
func TestStockPoolDeploymentLifecycle(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.Kubeconfig())
	d := stockIn(server.Namespace(t, "pod-security.kubernetes.io/enforce=restricted"))
	ctx := t.Context()
	made, err := c.CreateStock(ctx, d.InitialDeployment("token", 0))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.CreateStock(ctx, d.InitialDeployment("another", 0)); !errors.Is(err, stockpool.ErrChanged) {
		t.Errorf("created again: %v", err)
	}
	answer, err := c.ApplyStock(ctx, made, d.Desired(made, "", 2))
	if err != nil {
		t.Fatal(err)
	}
	if answer.UID != made.UID || *answer.Spec.Replicas != 2 || answer.Annotations[stockpool.AnnotationOpened] != "" {
		t.Errorf("filled, it is %+v", answer.ObjectMeta)
	}
	for _, entry := range answer.ManagedFields {
		if entry.Manager != stockpool.FieldManager && entry.Subresource == "" {
			t.Errorf("%s has fields of it: %s", entry.Manager, entry.FieldsV1)
		}
	}
	var seen stockpool.Observation
	kubetest.WaitFor(t, "its pods to be ready", func(ctx context.Context) (err error) {
		if seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil {
			return err
		}
		if len(seen.Pods) != 2 || !seen.Pods[0].Ready || !seen.Pods[1].Ready {
			return errors.New("they are not")
		}
		return nil
	})
	would, err := c.PreviewStock(ctx, seen.Deployment, d.Desired(seen.Deployment, "", 2))
	if err != nil {
		t.Fatal(err)
	}
	if changes := drift.Changes(seen.Deployment, would); len(changes) > 0 || (stockpool.Journal{}).RecordResponse(answer).Drifted(seen.Deployment) {
		t.Errorf("untouched, it would be changed: %v", changes)
	}
	d.Env, d.PodSecurityLevel = nil, stockpool.Baseline // an argument that was removed is removed
	if answer, err = c.ApplyStock(ctx, seen.Deployment, d.Desired(seen.Deployment, "", 2)); err != nil {
		t.Fatal(err)
	}
	main := answer.Spec.Template.Spec.Containers[0]
	if len(main.Env) > 0 || main.SecurityContext != nil && main.SecurityContext.Capabilities != nil {
		t.Errorf("what is not declared any longer stays: %+v", main)
	}
	stranger := answer.DeepCopy()
	stranger.UID = "33333333-2222-3333-4444-555555555555"
	if _, err := c.ApplyStock(ctx, stranger, d.Desired(stranger, "", 9)); !errors.Is(err, stockpool.ErrChanged) {
		t.Errorf("another of its name is applied to: %v", err)
	}
	if err := c.DeleteStock(ctx, stranger); err != nil {
		t.Error(err)
	}
	if seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil || seen.Deployment == nil || seen.Deployment.DeletionTimestamp != nil ||
		*seen.Deployment.Spec.Replicas != 2 {
		t.Fatalf("what was meant for another is done to it: %+v, %v", seen.Deployment, err)
	}
	if err := c.DeleteStock(ctx, seen.Deployment); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "it to be gone", func(ctx context.Context) error {
		if seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil {
			return err
		}
		if seen.Deployment != nil || len(seen.Pods) > 0 {
			return errors.New("it is there")
		}
		return nil
	})
	if err := c.DeleteStock(ctx, answer); err != nil {
		t.Errorf("deleted again: %v", err)
	}
	if _, err := c.ApplyStock(ctx, answer, d.Desired(answer, "", 2)); err == nil {
		t.Error("an application creates what is gone")
	}
}

// TestSomebodysChangeIsFound by a dry run, with who made it, and undone.
func TestSomebodysChangeIsFound(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.Kubeconfig())
	d := stockIn(server.Namespace(t))
	ctx := t.Context()
	made, err := c.CreateStock(ctx, d.InitialDeployment("token", 0))
	if err != nil {
		t.Fatal(err)
	}
	j := stockpool.Journal{}.RecordOwner(string(made.UID), stockpool.Container)
	answer, err := c.ApplyStock(ctx, made, d.Desired(made, "", 2))
	if err != nil {
		t.Fatal(err)
	}
	j = j.RecordApply(d, stockpool.Decision{Replicas: 2}, answer, c.Now())
	people := server.Client().AppsV1().Deployments(d.Namespace)
	patch := []byte(`{"spec":{"template":{"spec":{"containers":[{"name":"runtime","image":"evil"}]}}}}`)
	if _, err := people.Patch(ctx, d.Name, types.StrategicMergePatchType, patch, metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	if _, err := people.Patch(ctx, d.Name, types.MergePatchType, []byte(`{"spec":{"replicas":5}}`), metav1.PatchOptions{FieldManager: "kubectl"},
		"scale"); err != nil {
		t.Fatal(err)
	}
	seen, err := c.StockOf(ctx, d.Namespace, d.Name)
	if err != nil {
		t.Fatal(err)
	}
	situation := decide.Situation{Declaration: d, Journal: j, Observation: seen, Now: c.Now()}
	if plan := decide.Decide(situation); !plan.Ask {
		t.Fatalf("nothing is asked: %+v", plan.Decisions)
	}
	situation.Observation.WouldBe, err = c.PreviewStock(ctx, seen.Deployment, d.Desired(seen.Deployment, "", 2))
	if err != nil {
		t.Fatal(err)
	}
	plan := decide.Decide(situation)
	first := plan.Decisions[0]
	if first.Kind != stockpool.KindRevert || len(first.Changes) != 2 || len(first.By) != 2 {
		t.Fatalf("decided %+v", first)
	}
	answer, err = c.ApplyStock(ctx, seen.Deployment, d.Desired(seen.Deployment, "", 2))
	if err != nil || *answer.Spec.Replicas != 2 || answer.Spec.Template.Spec.Containers[0].Image != d.Image {
		t.Errorf("reverted, it is %+v: %v", answer.Spec, err)
	}
}

// TestStockIsObservedInOneList ignores foreign pods that only have its label.
func TestStockIsObservedInOneList(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	c := connect(t, server.Kubeconfig())
	d := stockIn(server.Namespace(t))
	ctx := t.Context()
	made, err := c.CreateStock(ctx, d.InitialDeployment("token", 0))
	if err != nil {
		t.Fatal(err)
	}
	made, err = c.ApplyStock(ctx, made, d.Desired(made, "", 2))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.GuardStock(ctx, nil, d.Guard(made)); err != nil {
		t.Fatal(err)
	}
	kubetest.Create(t, server, kubetest.Pod(d.Namespace, "stranger", kubetest.Labels(map[string]string{stockpool.LabelPool: "pool-g2"})))
	// Another Deployment, whose name begins with the pool's, copies the labels of its pods.
	copied := kubetest.Deployment(d.Namespace, d.Name+"-copied", 1)
	copied.Spec.Selector.MatchLabels["app"] = "copied"
	copied.Spec.Template.Labels = d.PodLabels()
	copied.Spec.Template.Labels["app"] = "copied"
	kubetest.Create(t, server, copied)
	kubetest.WaitFor(t, "the copy to have a pod", func(ctx context.Context) error {
		list, err := server.Client().CoreV1().Pods(d.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "app=copied"})
		if err == nil && len(list.Items) == 0 {
			err = errors.New("it has none")
		}
		return err
	})
	var seen stockpool.Observation
	kubetest.WaitFor(t, "two pods", func(ctx context.Context) error {
		l, err := c.Stock(ctx)
		if err != nil {
			return err
		}
		if len(l.Pods[d.Namespace+"/pool-g2"]) > 0 {
			t.Error("a stranger's pod is of a stock pool")
		}
		if seen = l.Of(d); len(seen.Pods) != 2 {
			return errors.New("there are others")
		}
		return nil
	})
	if seen.NamespaceMissing || seen.Deployment.UID != made.UID || seen.Guard == nil || seen.Guard.Spec.MinAvailable.IntValue() != 1 {
		t.Fatalf("seen: %+v", seen)
	}
	d.PodDisruptionBudget.MinAvailable = 2
	if err := c.GuardStock(ctx, seen.Guard, d.Guard(made)); err != nil {
		t.Fatal(err)
	}
	p := seen.Pods[0]
	for _, spare := range []bool{true, true, false} {
		if err := c.SpareStockPod(ctx, d.Namespace, p, spare); err != nil {
			t.Fatal(err)
		}
		seen, err = c.StockOf(ctx, d.Namespace, d.Name)
		n := slices.IndexFunc(seen.Pods, func(o stockpool.Pod) bool { return o.UID == p.UID })
		if err != nil || (seen.Pods[n].DeletionCost == stockpool.SpareCost) != spare {
			t.Errorf("spared (%t), it costs %q: %v", spare, seen.Pods[n].DeletionCost, err)
		}
	}
	if seen.Guard.Spec.MinAvailable.IntValue() != 2 {
		t.Errorf("guarded again: %+v", seen.Guard.Spec)
	}
	if _, err := server.Client().PolicyV1().PodDisruptionBudgets(d.Namespace).Patch(ctx, d.Name, types.MergePatchType,
		[]byte(`{"spec":{"minAvailable":null,"maxUnavailable":2}}`), metav1.PatchOptions{FieldManager: "kubectl-edit"}); err != nil {
		t.Fatal(err)
	}
	if err := c.GuardStock(ctx, seen.Guard, d.Guard(made)); err == nil {
		t.Error("what somebody changed since it was seen is guarded over")
	}
	stranger := seen.Guard.DeepCopy()
	if seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil {
		t.Fatal(err)
	}
	stranger.UID, stranger.ResourceVersion, stranger.Spec = "33333333-2222-3333-4444-555555555555", seen.Guard.ResourceVersion, seen.Guard.Spec
	if err := c.GuardStock(ctx, stranger, d.Guard(made)); !errors.Is(err, stockpool.ErrChanged) {
		t.Errorf("another of its name is changed: %v", err)
	}
	if err := c.GuardStock(ctx, seen.Guard, d.Guard(made)); err != nil {
		t.Errorf("guarded, with somebody's maxUnavailable there: %v", err)
	}
	if seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil || seen.Guard.Spec.MaxUnavailable != nil || seen.Guard.Spec.MinAvailable.IntValue() != 2 {
		t.Errorf("with somebody's maxUnavailable undone it is %+v: %v", seen.Guard.Spec, err)
	}
	p.UID = "another"
	if err := c.SpareStockPod(ctx, d.Namespace, p, true); err != nil {
		t.Errorf("a pod that is gone: %v", err)
	}
	if err := c.UnguardStock(ctx, seen.Guard); err != nil {
		t.Fatal(err)
	}
	if seen, err = c.StockOf(ctx, d.Namespace, d.Name); err != nil || seen.Guard != nil {
		t.Errorf("unguarded, it has %v: %v", seen.Guard, err)
	}
	if seen, err = c.StockOf(ctx, "no-such-namespace", d.Name); err != nil || !seen.NamespaceMissing || !seen.Known() {
		t.Errorf("of a missing namespace it is seen: %+v, %v", seen, err)
	}
}
