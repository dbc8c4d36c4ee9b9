package manifests_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"

	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

const (
	apiPolicy = "/apis/policy/v1/namespaces/"

	aDeployment = `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"NAME","labels":{"gpupool/stock-pool":"LABEL"}},"spec":{"replicas":0,"selector":{"matchLabels":{"app":"mine"}},"template":{"metadata":{"labels":{"app":"mine"}},"spec":{"containers":[{"name":"a","image":"a"}]}}}}`
	aGuard      = `{"apiVersion":"policy/v1","kind":"PodDisruptionBudget","metadata":{"name":"NAME","labels":{"gpupool/stock-pool":"LABEL"}},"spec":{"minAvailable":"100%","selector":{}}}`
)

var anOwner = ownedBy("v1", "Pod", "pod")

func ownedBy(version, kind, name string) string {
	return `"ownerReferences":[{"apiVersion":"` + version + `","kind":"` + kind + `","name":"` + name + `","uid":"a"}]`
}

func withMetadata(text, more string) string {
	return strings.Replace(text, `"metadata":{`, `"metadata":{`+more+`,`, 1)
}

func labeled(text, name, label string) string {
	return strings.NewReplacer("NAME", name, "LABEL", label).Replace(text)
}

// makeStock creates objects to abuse in some namespaces. The Deployment, disruption budget and
// pod "stock" have a stock pool's labels. "deployment", "pod" and the disruption budget "guard"
// are foreign, and the Deployment "other" has another one's label.
func makeStock(t *testing.T, cluster *kubetest.Cluster, work string) {
	t.Helper()
	own := map[string]string{stockpool.LabelPool: "stock"}
	for _, namespace := range []string{
		work, manifests.DefaultNamespace, manifests.RunNamespaceOf(manifests.DefaultNamespace), otherRun, metav1.NamespaceSystem,
	} {
		deployment := kubetest.Deployment(namespace, "stock", 0)
		deployment.Labels = own
		kubetest.Create(t, cluster, deployment)
		guard := kubetest.PodDisruptionBudget(namespace, "stock", 1, own)
		guard.Labels = own
		kubetest.Create(t, cluster, guard)
		pod := kubetest.Pod(namespace, "stock", restricted, kubetest.Labels(own), kubetest.Annotation("of", "someone"))
		pod.Spec.ServiceAccountName = ""
		kubetest.Create(t, cluster, pod)
	}
	kubetest.Create(t, cluster, kubetest.PodDisruptionBudget(work, "guard", 1, map[string]string{"app": "a"}))
	mislabeled := kubetest.Deployment(work, "other", 0)
	mislabeled.Labels = own
	kubetest.Create(t, cluster, mislabeled)
}

// stockAbuses are abuses of the rights on stock pools.
func stockAbuses() []abuse {
	create := func(right, what, path, body string) abuse {
		return abuse{right: "create " + right, what: what, verb: http.MethodPost, path: path + "/" + right, body: body}
	}
	patch := func(right, what, path, body string) abuse {
		return abuse{right: "patch " + right, what: what, verb: http.MethodPatch, path: path, body: body, as: types.MergePatchType}
	}
	apply := func(right, what, path, body string) abuse {
		return abuse{
			right: "patch " + right, what: what, verb: http.MethodPatch, path: path + "?fieldManager=gpupool-stock&force=true", body: body,
			as: types.ApplyPatchType,
		}
	}
	remove := func(right, what, path string) abuse {
		return abuse{right: "delete " + right, what: what, verb: http.MethodDelete, path: path}
	}
	const claims = `{"metadata":{"managedFields":[{"manager":"gpupool-stock","operation":"Apply","apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:spec":{"f:replicas":{}}}}]}}`
	all := []abuse{
		create("deployments", "make one without the label", apiApps+"WORK",
			strings.Replace(labeled(aDeployment, "mine", "x"), "gpupool/stock-pool", "app", 1)),
		create("deployments", "make one with another's label", apiApps+"WORK", labeled(aDeployment, "mine", "stock")),
		create("deployments", "make one of a name to come", apiApps+"WORK",
			strings.Replace(labeled(aDeployment, "mine-", "mine"), `"name":"mine-"`, `"generateName":"mine-"`, 1)),
		create("deployments", "make one that never goes", apiApps+"WORK", withMetadata(labeled(aDeployment, "mine", "mine"), `"finalizers":["a.example/b"]`)),
		create("deployments", "make one that is owned", apiApps+"WORK", withMetadata(labeled(aDeployment, "mine", "mine"), anOwner)),
		create("deployments", "make one that owns itself", apiApps+"WORK",
			withMetadata(labeled(aDeployment, "mine", "mine"), ownedBy("apps/v1", "Deployment", "mine"))),
		apply("deployments", "make one by applying, that never goes", apiApps+"WORK/deployments/mine",
			withMetadata(labeled(aDeployment, "mine", "mine"), `"finalizers":["a.example/b"]`)),
		patch("deployments", "claim one by its label", apiApps+"WORK/deployments/deployment", `{"metadata":{"labels":{"gpupool/stock-pool":"deployment"}}}`),
		patch("deployments", "claim one by who manages it", apiApps+"WORK/deployments/deployment", claims),
		patch("deployments", "claim one with both", apiApps+"WORK/deployments/deployment",
			strings.Replace(claims, `{"metadata":{`, `{"metadata":{"labels":{"gpupool/stock-pool":"deployment"},`, 1)),
		patch("deployments", "change one with another's label", apiApps+"WORK/deployments/other", `{"spec":{"replicas":1}}`),
		patch("deployments", "correct another's label", apiApps+"WORK/deployments/other", `{"metadata":{"labels":{"gpupool/stock-pool":"other"}}}`),
		patch("deployments", "let one go by taking its label", apiApps+"WORK/deployments/stock", `{"metadata":{"labels":{"gpupool/stock-pool":null}}}`),
		patch("deployments", "label it as another's", apiApps+"WORK/deployments/stock", `{"metadata":{"labels":{"gpupool/stock-pool":"other"}}}`),
		patch("deployments", "have it owned", apiApps+"WORK/deployments/stock",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"pod","uid":"a"}]}}`),
		patch("deployments", "never let it go", apiApps+"WORK/deployments/stock", `{"metadata":{"finalizers":["a.example/b"]}}`),
		patch("deployments", "write its status", apiApps+"WORK/deployments/stock/status", `{"status":{"replicas":9}}`),
		apply("deployments", "apply to somebody's", apiApps+"WORK/deployments/deployment",
			strings.ReplaceAll(labeled(aDeployment, "deployment", "deployment"), `"app":"mine"`, `"app":"deployment"`)),
		apply("deployments", "make one by applying, without the label", apiApps+"WORK/deployments/mine",
			strings.Replace(labeled(aDeployment, "mine", "x"), "gpupool/stock-pool", "app", 1)),
		remove("deployments", "delete somebody's", apiApps+"WORK/deployments/deployment"),
		remove("deployments", "delete one with another's label", apiApps+"WORK/deployments/other"),
		remove("deployments", "delete all", apiApps+"WORK/deployments"),
		{
			right: "list deployments", what: "write one whole", verb: http.MethodPut, path: apiApps + "WORK/deployments/stock",
			body: labeled(aDeployment, "stock", "stock"),
		},
		{right: "list replicasets", what: "delete all", verb: http.MethodDelete, path: apiApps + "WORK/replicasets"},

		create("poddisruptionbudgets", "make one without the label", apiPolicy+"WORK",
			strings.Replace(labeled(aGuard, "mine", "x"), "gpupool/stock-pool", "app", 1)),
		create("poddisruptionbudgets", "make one with another's label", apiPolicy+"WORK", labeled(aGuard, "mine", "stock")),
		create("poddisruptionbudgets", "make one that never goes", apiPolicy+"WORK",
			withMetadata(labeled(aGuard, "mine", "mine"), `"finalizers":["a.example/b"]`)),
		create("poddisruptionbudgets", "make one that a pod owns", apiPolicy+"WORK", withMetadata(labeled(aGuard, "mine", "mine"), anOwner)),
		create("poddisruptionbudgets", "make one that another Deployment owns", apiPolicy+"WORK",
			withMetadata(labeled(aGuard, "mine", "mine"), ownedBy("apps/v1", "Deployment", "other"))),
		create("poddisruptionbudgets", "make one that a StatefulSet of its name owns", apiPolicy+"WORK",
			withMetadata(labeled(aGuard, "mine", "mine"), ownedBy("apps/v1", "StatefulSet", "mine"))),
		create("poddisruptionbudgets", "make one that a Deployment of another API owns", apiPolicy+"WORK",
			withMetadata(labeled(aGuard, "mine", "mine"), ownedBy("example.com/v1", "Deployment", "mine"))),
		patch("poddisruptionbudgets", "let somebody's allow all", apiPolicy+"WORK/poddisruptionbudgets/guard", `{"spec":{"minAvailable":0}}`),
		patch("poddisruptionbudgets", "claim somebody's", apiPolicy+"WORK/poddisruptionbudgets/guard",
			`{"metadata":{"labels":{"gpupool/stock-pool":"guard"}}}`),
		apply("poddisruptionbudgets", "apply to somebody's", apiPolicy+"WORK/poddisruptionbudgets/guard", labeled(aGuard, "guard", "guard")),
		remove("poddisruptionbudgets", "delete somebody's", apiPolicy+"WORK/poddisruptionbudgets/guard"),
		remove("poddisruptionbudgets", "delete all", apiPolicy+"WORK/poddisruptionbudgets"),
		{
			right: "get poddisruptionbudgets", what: "write one whole", verb: http.MethodPut, path: apiPolicy + "WORK/poddisruptionbudgets/stock",
			body: labeled(aGuard, "stock", "stock"),
		},
		{
			right: "list poddisruptionbudgets", what: "say how many may go", verb: http.MethodPatch, path: apiPolicy + "WORK/poddisruptionbudgets/stock/status",
			body: `{"status":{"disruptionsAllowed":9}}`, as: types.MergePatchType,
		},

		patch("pods", "have a scale-down delete an unowned pod first", apiCore+"WORK/pods/pod",
			`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1000"}}}`),
		patch("pods", "claim one", apiCore+"WORK/pods/pod", `{"metadata":{"labels":{"gpupool/stock-pool":"stock"}}}`),
		patch("pods", "have a pool's go first", apiCore+"WORK/pods/stock", `{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"-5"}}}`),
		patch("pods", "annotate a pool's", apiCore+"WORK/pods/stock", `{"metadata":{"annotations":{"a":"b"}}}`),
		patch("pods", "take a pool's annotations", apiCore+"WORK/pods/stock", `{"metadata":{"annotations":null}}`),
		patch("pods", "label a pool's", apiCore+"WORK/pods/stock", `{"metadata":{"labels":{"session":"b"}}}`),
		patch("pods", "take a pool's label", apiCore+"WORK/pods/stock", `{"metadata":{"labels":null}}`),
		patch("pods", "have a pool's owned", apiCore+"WORK/pods/stock",
			`{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"Pod","name":"pod","uid":"a"}]}}`),
		patch("pods", "give a pool's another image", apiCore+"WORK/pods/stock", `{"spec":{"activeDeadlineSeconds":1}}`),
		patch("pods", "write a pool's status", apiCore+"WORK/pods/stock/status", `{"status":{"phase":"Failed"}}`),
		patch("pods", "resize a pool's", apiCore+"WORK/pods/stock/resize", `{"spec":{"containers":[{"name":"main","resources":{"requests":{"cpu":"9"}}}]}}`),
		apply("pods", "make one by applying", apiCore+"WORK/pods/mine",
			`{"apiVersion":"v1","kind":"Pod","metadata":{"name":"mine","labels":{"gpupool/stock-pool":"mine"}},"spec":{"containers":[{"name":"a","image":"a"}]}}`),
	}
	for _, namespace := range []string{"kube-system", "STORE", "RUN", "RUN2"} {
		all = append(all,
			create("deployments", "make one in "+namespace, apiApps+namespace, labeled(aDeployment, "mine", "mine")),
			patch("deployments", "change one in "+namespace, apiApps+namespace+"/deployments/stock", `{"spec":{"replicas":1}}`),
			remove("deployments", "delete one in "+namespace, apiApps+namespace+"/deployments/stock"),
			create("poddisruptionbudgets", "make one in "+namespace, apiPolicy+namespace, labeled(aGuard, "mine", "mine")),
			patch("poddisruptionbudgets", "change one in "+namespace, apiPolicy+namespace+"/poddisruptionbudgets/stock", `{"spec":{"minAvailable":0}}`),
			remove("poddisruptionbudgets", "delete one in "+namespace, apiPolicy+namespace+"/poddisruptionbudgets/stock"),
			patch("pods", "spare one in "+namespace, apiCore+namespace+"/pods/stock",
				`{"metadata":{"annotations":{"controller.kubernetes.io/pod-deletion-cost":"1000"}}}`),
		)
	}
	return all
}

// changesStock uses the rights on stock pools, also for a Deployment that was labeled for a
// take-over, and for one that lost its label.
func changesStock(t *testing.T, server *kubetest.Cluster, c *kubecluster.Cluster, work string) {
	t.Helper()
	ctx, d := t.Context(), stockPool(work)
	theirs := kubetest.Deployment(work, "adopted", 0)
	theirs.Labels = map[string]string{stockpool.LabelPool: "adopted"}
	theirs = kubetest.Create(t, server, theirs)
	adopts := d
	adopts.Name = "adopted"
	answer, err := c.ApplyStock(ctx, theirs, adopts.Desired(theirs, "main", 1))
	if err != nil {
		t.Fatalf("taking one over: %v", err)
	}
	live, err := c.CreateStock(ctx, d.InitialDeployment("a", 0))
	if err != nil {
		t.Fatalf("creating: %v", err)
	}
	for _, replicas := range []int{0, 2} {
		if live, err = c.ApplyStock(ctx, live, d.Desired(live, stockpool.Container, replicas)); err != nil {
			t.Fatalf("applying: %v", err)
		}
	}
	deployments := server.Client().AppsV1().Deployments(work)
	if live, err = deployments.Patch(ctx, live.Name, types.MergePatchType, []byte(`{"metadata":{"labels":null}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if live, err = c.ApplyStock(ctx, live, d.Desired(live, stockpool.Container, 2)); err != nil || live.Labels[stockpool.LabelPool] != d.Name {
		t.Fatalf("labeling it again: %v, %v", live.Labels, err)
	}
	var guard *policyv1.PodDisruptionBudget
	for minimum := range 3 {
		d.PodDisruptionBudget.MinAvailable = minimum
		if err := c.GuardStock(ctx, guard, d.Guard(live)); err != nil {
			t.Fatalf("guarding: %v", err)
		}
		if guard, err = server.Client().PolicyV1().PodDisruptionBudgets(work).Get(ctx, d.Name, metav1.GetOptions{}); err != nil {
			t.Fatal(err)
		}
	}
	if guard, err = server.Client().PolicyV1().PodDisruptionBudgets(work).Patch(ctx, d.Name, types.MergePatchType,
		[]byte(`{"metadata":{"labels":null},"spec":{"minAvailable":null,"maxUnavailable":1}}`), metav1.PatchOptions{}); err != nil {
		t.Fatal(err)
	}
	if err := c.GuardStock(ctx, guard, d.Guard(live)); err != nil {
		t.Errorf("undoing somebody's maximum: %v", err)
	}
	if err := c.UnguardStock(ctx, guard); err != nil {
		t.Errorf("unguarding: %v", err)
	}
	pod, err := server.Client().CoreV1().Pods(work).Get(ctx, "stock", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	for _, spare := range []bool{true, false} {
		if err := c.SpareStockPod(ctx, work, stockpool.Pod{Name: pod.Name, UID: string(pod.UID)}, spare); err != nil {
			t.Errorf("sparing %t: %v", spare, err)
		}
	}
	if err := c.DeleteStock(ctx, live); err != nil {
		t.Errorf("deleting: %v", err)
	}
	if err := c.DeleteStock(ctx, answer); err != nil {
		t.Errorf("deleting the adopted: %v", err)
	}
	for _, name := range []string{live.Name, answer.Name} {
		kubetest.WaitFor(t, name+" to be gone", func(ctx context.Context) error {
			if _, err := deployments.Get(ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
				return fmt.Errorf("it is there: %w", err)
			}
			return nil
		})
	}
}
