package manifests_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/dynamic"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

var resources = map[string]string{
	"Namespace": "namespaces", "ConfigMap": "configmaps", "ServiceAccount": "serviceaccounts", "Role": "roles", "RoleBinding": "rolebindings",
	"ClusterRole": "clusterroles", "ClusterRoleBinding": "clusterrolebindings", "CronJob": "cronjobs", "DaemonSet": "daemonsets", "Deployment": "deployments",
	"Service": "services", "NetworkPolicy": "networkpolicies",
	"ValidatingAdmissionPolicy": "validatingadmissionpolicies", "ValidatingAdmissionPolicyBinding": "validatingadmissionpolicybindings",
}

// apply does what kubectl apply --server-side does with the text that is printed,
// and lets nothing pass that the API does not know. It returns what is there then.
func apply(t *testing.T, cluster *kubetest.Cluster, all []manifests.Object) []*unstructured.Unstructured {
	t.Helper()
	text, err := manifests.YAML(all)
	if err != nil {
		t.Fatal(err)
	}
	client, err := dynamic.NewForConfig(cluster.Config())
	if err != nil {
		t.Fatal(err)
	}
	var applied []*unstructured.Unstructured
	decoder := yaml.NewYAMLToJSONDecoder(bytes.NewReader(text))
	for {
		o := &unstructured.Unstructured{}
		if err := decoder.Decode(&o.Object); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if len(o.Object) == 0 {
			continue
		}
		version, err := schema.ParseGroupVersion(o.GetAPIVersion())
		if err != nil || resources[o.GetKind()] == "" {
			t.Fatalf("%s %s: %v", o.GetAPIVersion(), o.GetKind(), err)
		}
		data, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := client.Resource(version.WithResource(resources[o.GetKind()])).Namespace(o.GetNamespace()).Patch(t.Context(), o.GetName(),
			types.ApplyPatchType, data,
			metav1.PatchOptions{FieldManager: "kubectl", Force: new(true), FieldValidation: metav1.FieldValidationStrict})
		if err != nil {
			t.Fatalf("%s %s: %v", o.GetKind(), o.GetName(), err)
		}
		applied = append(applied, got)
	}
	if len(applied) != len(all) {
		t.Fatalf("of %d objects %d were applied", len(all), len(applied))
	}
	return applied
}

// applyByClient does what kubectl apply does to the printed bindings that it created. It
// compares what it applied last, what it applies now and the live object, and patches.
func applyByClient(t *testing.T, cluster *kubetest.Cluster, all []manifests.Object) {
	t.Helper()
	client := cluster.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings()
	for _, o := range all {
		binding, ok := o.Object.(*admissionv1.ValidatingAdmissionPolicyBinding)
		if !ok {
			continue
		}
		plain, err := manifests.Plain(binding)
		if err != nil {
			t.Fatal(err)
		}
		applied, err := plain.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		plain.SetAnnotations(map[string]string{corev1.LastAppliedConfigAnnotation: string(applied)})
		modified, err := plain.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		var wanted admissionv1.ValidatingAdmissionPolicyBinding
		if err := json.Unmarshal(modified, &wanted); err != nil {
			t.Fatal(err)
		}
		if _, err := client.Create(t.Context(), &wanted, metav1.CreateOptions{FieldManager: "kubectl-client-side-apply"}); err == nil {
			continue
		}
		now, err := client.Get(t.Context(), binding.Name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		current, err := json.Marshal(now)
		if err != nil {
			t.Fatal(err)
		}
		schema, err := strategicpatch.NewPatchMetaFromStruct(binding)
		if err != nil {
			t.Fatal(err)
		}
		patch, err := strategicpatch.CreateThreeWayMergePatch([]byte(now.Annotations[corev1.LastAppliedConfigAnnotation]), modified, current, schema, true)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := client.Patch(t.Context(), binding.Name, types.StrategicMergePatchType, patch,
			metav1.PatchOptions{FieldManager: "kubectl-client-side-apply"}); err != nil {
			t.Fatal(err)
		}
	}
}

// TestManifestsAreAppliedAgain while a budget is frozen, and after they were deleted.
func TestManifestsAreAppliedAgain(t *testing.T) {
	t.Parallel()
	cluster := kubetest.StartOwn(t)
	t.Run("applies and applies again", func(t *testing.T) { appliesAndAppliesAgain(t, cluster) })
	t.Run("the next run recovers", func(t *testing.T) { nextRunRecovers(t, cluster) })
}

// appliesAndAppliesAgain applies the manifests, and applies them again while a budget is frozen, as
// kubectl apply does by client and by server: nothing changes.
func appliesAndAppliesAgain(t *testing.T, cluster *kubetest.Cluster) {
	all := objects(t, options())
	applyByClient(t, cluster, all)
	first := apply(t, cluster, all)
	ns := cluster.Namespace(t)
	freeze := budget.FreezeRule{Budget: "b", BudgetUID: "f0f0f0f0", Selector: budget.Selector{Namespaces: []string{ns}}}
	c := kubecluster.New(connect(t, kubeclient.Config{ConfigPath: cluster.Kubeconfig()}))
	if err := c.Freeze(t.Context(), freeze); err != nil {
		t.Fatal(err)
	}
	frozen := slotsNow(t, cluster)
	kubetest.WaitFor(t, "the freeze", func(ctx context.Context) error { return wantRefused(ctx, cluster, ns) })
	applyByClient(t, cluster, all)
	if diff := cmp.Diff(frozen, slotsNow(t, cluster)); diff != "" {
		t.Errorf("the slots changed when the client applied them (-before +after)\n%s", diff)
	}
	for n, now := range apply(t, cluster, all) {
		if now.GetKind() != "ValidatingAdmissionPolicyBinding" && now.GetGeneration() != first[n].GetGeneration() {
			t.Errorf("%s %s changed when it was applied again", now.GetKind(), now.GetName())
		}
	}
	if diff := cmp.Diff(frozen, slotsNow(t, cluster)); diff != "" {
		t.Errorf("the slots changed when the server applied them (-before +after)\n%s", diff)
	}
	untilWarned(t, cluster, ns) // by what was created last: the API server has read the slots
	if err := wantRefused(t.Context(), cluster, ns); err != nil {
		t.Error(err)
	}
	if err := c.Unfreeze(t.Context(), freeze.BudgetUID); err != nil {
		t.Fatal(err)
	}
}

func slotsNow(t *testing.T, cluster *kubetest.Cluster) map[string]any {
	t.Helper()
	list, err := cluster.Client().AdmissionregistrationV1().ValidatingAdmissionPolicyBindings().List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]any{}
	for _, b := range list.Items {
		out[b.Name] = []any{b.Spec, b.Labels}
	}
	return out
}

// wantRefused is an error unless a pod with a GPU is refused by a freeze.
func wantRefused(ctx context.Context, cluster *kubetest.Cluster, namespace string) error {
	pod := kubetest.Pod(namespace, "", kubetest.GPUs(1))
	_, err := cluster.Client().CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
	if err == nil || !strings.Contains(err.Error(), kubecluster.FreezePolicyName) {
		return fmt.Errorf("a pod was not refused (%v)", err) //nolint:errorlint // it may be nil
	}
	return nil
}

// startJob starts a run as kubectl create job --from=cronjob/... does, with pods that end as
// the stand-in kubelet is configured.
func startJob(t *testing.T, cluster *kubetest.Cluster, namespace string, options ...kubetest.PodOption) *batchv1.Job {
	t.Helper()
	cron, err := cluster.Client().BatchV1().CronJobs(namespace).Get(t.Context(), "gpupool-reconcile", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	script := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{}}}
	for _, option := range options {
		option(script)
	}
	template := cron.Spec.JobTemplate.DeepCopy()
	template.Spec.Template.Annotations = script.Annotations
	job := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, GenerateName: "run-"}, Spec: template.Spec}
	return kubetest.Create(t, cluster, job)
}

func podsOf(ctx context.Context, cluster *kubetest.Cluster, job *batchv1.Job) ([]corev1.Pod, error) {
	list, err := cluster.Client().CoreV1().Pods(job.Namespace).List(ctx, metav1.ListOptions{LabelSelector: "batch.kubernetes.io/job-name=" + job.Name})
	if err != nil {
		return nil, err
	}
	return list.Items, nil
}

// waitJob waits until the Job is over and returns the condition that it ended with.
func waitJob(t *testing.T, cluster *kubetest.Cluster, job *batchv1.Job) batchv1.JobConditionType {
	t.Helper()
	var ended batchv1.JobConditionType
	kubetest.WaitFor(t, "the job to end", func(ctx context.Context) error {
		now, err := cluster.Client().BatchV1().Jobs(job.Namespace).Get(ctx, job.Name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		for _, c := range now.Status.Conditions {
			if c.Status == corev1.ConditionTrue && (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) {
				ended = c.Type
				return nil
			}
		}
		return fmt.Errorf("its status is %+v", now.Status)
	})
	return ended
}

// TestJobVerdict: a run that finds another one under way must exit with 0, since a Job
// counts nothing else as success. It uses the real controllers.
func TestJobVerdict(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	o := options()
	o.Namespace = cluster.Namespace(t)
	apply(t, cluster, objects(t, o)) // with pod security "restricted", which admits its pods or not
	for code, want := range map[int]batchv1.JobConditionType{0: batchv1.JobComplete, 1: batchv1.JobFailed, 11: batchv1.JobFailed} {
		t.Run(fmt.Sprint("exit code ", code), func(t *testing.T) {
			t.Parallel()
			job := startJob(t, cluster, manifests.RunNamespaceOf(o.Namespace), kubetest.ExitCode(code), kubetest.RunFor(0))
			if got := waitJob(t, cluster, job); got != want {
				t.Errorf("the Job is %s, want %s", got, want)
			}
			pods, err := podsOf(t.Context(), cluster, job)
			if err != nil || len(pods) != 1 {
				t.Errorf("there are %d pods (%v), want one: a run that failed is not repeated", len(pods), err)
			}
		})
	}
}

func TestADrainedNodeFailsNoRun(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	o := options()
	o.Namespace = cluster.Namespace(t)
	apply(t, cluster, objects(t, o))
	job := startJob(t, cluster, manifests.RunNamespaceOf(o.Namespace))
	var first corev1.Pod
	kubetest.WaitFor(t, "a pod to run", func(ctx context.Context) error {
		pods, err := podsOf(ctx, cluster, job)
		if err == nil && (len(pods) == 0 || pods[0].Status.Phase != corev1.PodRunning) {
			err = errors.New("none runs")
		}
		if err == nil {
			first = pods[0]
		}
		return err
	})
	eviction := &policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: job.Namespace, Name: first.Name}, DeleteOptions: metav1.NewDeleteOptions(0)}
	if err := cluster.Client().PolicyV1().Evictions(job.Namespace).Evict(t.Context(), eviction); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "another pod to do the run", func(ctx context.Context) error {
		pods, err := podsOf(ctx, cluster, job)
		if err != nil {
			return err
		}
		for _, p := range pods {
			if p.UID != first.UID && p.Status.Phase == corev1.PodRunning {
				return nil
			}
		}
		return fmt.Errorf("there are %d pods", len(pods))
	})
}
