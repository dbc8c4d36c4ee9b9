package kubetest_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// These tests show that what enforcement is later shown to prevent does happen
// on this cluster without it.

func TestADeletedPodOfADeploymentComesBack(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	kubetest.Create(t, c, kubetest.Deployment(namespace, "train", 2, kubetest.GPUs(1)))
	first := running(t, c, namespace, "app=train", 2)

	deleted := first[0]
	if err := c.Client().CoreV1().Pods(namespace).Delete(t.Context(), deleted.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	c.WaitGone(t, &deleted)
	for _, pod := range running(t, c, namespace, "app=train", 2) {
		if pod.UID == deleted.UID {
			t.Errorf("%s was deleted and is still listed", pod.Name)
		}
	}
}

func TestADisruptionBudgetBlocksEviction(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	kubetest.Create(t, c, kubetest.PodDisruptionBudget(namespace, "keep-two", 2, map[string]string{"app": "train"}))
	kubetest.Create(t, c, kubetest.Deployment(namespace, "train", 2, kubetest.GPUs(1)))
	kubetest.Create(t, c, kubetest.Pod(namespace, "alone", kubetest.GPUs(1)))
	pods := running(t, c, namespace, "app=train", 2)
	waitForBudget(t, c, namespace, "keep-two", 2)

	evict := func(name string) error {
		return c.Client().PolicyV1().Evictions(namespace).Evict(t.Context(),
			&policyv1.Eviction{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}})
	}
	if err := evict(pods[0].Name); !apierrors.IsTooManyRequests(err) {
		t.Errorf("the eviction of a pod that the budget needs: %v, want 429 Too Many Requests", err)
	}
	alone := c.WaitRunning(t, kubetest.Pod(namespace, "alone"))
	if err := evict("alone"); err != nil {
		t.Errorf("the eviction of a pod without a budget: %v", err)
	}
	c.WaitGone(t, alone)
}

func TestAResourceQuotaAdmitsAndBlocks(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	kubetest.Create(t, c, kubetest.ResourceQuota(namespace, "two-gpus", "requests.nvidia.com/gpu", "2"))
	kubetest.WaitFor(t, "the quota's controller", func(ctx context.Context) error {
		quota, err := c.Client().CoreV1().ResourceQuotas(namespace).Get(ctx, "two-gpus", metav1.GetOptions{})
		if err == nil && len(quota.Status.Hard) == 0 {
			err = errors.New("the quota's status is empty")
		}
		return err
	})

	first := kubetest.Create(t, c, kubetest.Pod(namespace, "first", kubetest.GPUs(2)))
	if _, err := kubetest.TryCreate(t.Context(), c, kubetest.Pod(namespace, "second", kubetest.GPUs(1))); !apierrors.IsForbidden(err) {
		t.Errorf("a pod over the quota: %v, want 403 Forbidden", err)
	}
	if err := c.Client().CoreV1().Pods(namespace).Delete(t.Context(), first.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "the quota to be free again", func(ctx context.Context) error {
		_, err := kubetest.TryCreate(ctx, c, kubetest.Pod(namespace, "second", kubetest.GPUs(1)))
		return err
	})
}

func TestAJobFinishes(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	kubetest.Create(t, c, kubetest.Job(namespace, "train", 2, kubetest.GPUs(1), kubetest.RunFor(time.Second)))
	kubetest.WaitFor(t, "the job to complete", func(ctx context.Context) error {
		job, err := c.Client().BatchV1().Jobs(namespace).Get(ctx, "train", metav1.GetOptions{})
		if err == nil && job.Status.CompletionTime == nil {
			err = fmt.Errorf("%d pods have succeeded", job.Status.Succeeded)
		}
		return err
	})
}

func TestAnAdmissionPolicyDenies(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	frozen := c.Namespace(t, "freeze="+t.Name())
	free := c.Namespace(t)
	name := "kubetest-" + frozen
	kubetest.Create(t, c, &admissionregistrationv1.ValidatingAdmissionPolicy{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
			MatchConstraints: &admissionregistrationv1.MatchResources{ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{
				RuleWithOperations: admissionregistrationv1.RuleWithOperations{
					Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.Create},
					Rule:       admissionregistrationv1.Rule{APIGroups: []string{""}, APIVersions: []string{"v1"}, Resources: []string{"pods"}},
				},
			}}},
			Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "no new pods"}},
		},
	})
	kubetest.Create(t, c, &admissionregistrationv1.ValidatingAdmissionPolicyBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
			PolicyName:        name,
			ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			MatchResources: &admissionregistrationv1.MatchResources{
				NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"freeze": t.Name()}},
			},
		},
	})
	kubetest.WaitFor(t, "the policy to deny pods", func(ctx context.Context) error {
		_, err := kubetest.TryCreate(ctx, c, kubetest.Pod(frozen, ""))
		if apierrors.IsInvalid(err) || apierrors.IsForbidden(err) {
			return nil
		}
		return fmt.Errorf("the pod was answered with %w", errors.Join(err, errors.New("no denial")))
	})
	kubetest.Create(t, c, kubetest.Pod(free, ""))
}

func TestAClaimIsAllocatedAndReserved(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	node := kubetest.Create(t, c, kubetest.Node("dra-"+namespace, 0))
	driver := namespace + ".example.com"
	class := kubetest.Create(t, c, kubetest.DeviceClass(driver, driver))
	kubetest.Create(t, c, kubetest.ResourceSlice(node.Name, driver, 4, "16Gi"))
	kubetest.Create(t, c, kubetest.ResourceClaim(namespace, "two", class.Name, 2))
	kubetest.Create(t, c, kubetest.ResourceClaimTemplate(namespace, "one", class.Name, 1))

	pod := kubetest.Create(t, c, kubetest.Pod(namespace, "train", kubetest.OnNode(node.Name), kubetest.Claim("two"), kubetest.ClaimTemplate("one")))
	c.WaitRunning(t, pod)
	claims, err := c.Client().ResourceV1().ResourceClaims(namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil {
		t.Fatal(err)
	}
	devices := 0
	for _, claim := range claims.Items {
		if len(claim.Status.ReservedFor) != 1 || claim.Status.ReservedFor[0].UID != pod.UID {
			t.Errorf("claim %s is reserved for %v, want the pod", claim.Name, claim.Status.ReservedFor)
		}
		devices += len(claim.Status.Allocation.Devices.Results)
	}
	if devices != 3 {
		t.Errorf("the pod was given %d devices by %d claims, want 3", devices, len(claims.Items))
	}
}

func TestARoleForbids(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	kubetest.Create(t, c, &rbacv1.Role{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader"},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"pods"}, Verbs: []string{"list"}}},
	})
	kubetest.Create(t, c, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: "reader"},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "reader"},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: namespace, Name: "reader"}},
	})
	config, err := clientcmd.BuildConfigFromFlags("", c.ServiceAccountKubeconfig(t, namespace, "reader"))
	if err != nil {
		t.Fatal(err)
	}
	reader, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	kubetest.WaitFor(t, "the role to be known", func(ctx context.Context) error {
		_, err := reader.CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{})
		return err
	})
	if err := reader.CoreV1().Pods(namespace).Delete(t.Context(), "any", metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a verb that the role lacks: %v, want 403 Forbidden", err)
	}
	if _, err := reader.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("a namespace that is not the role's: %v, want 403 Forbidden", err)
	}
}

func TestAPodOfHigherPriorityTakesItsPlace(t *testing.T) {
	t.Parallel()
	c := kubetest.Start(t)
	namespace := c.Namespace(t)
	node := kubetest.Create(t, c, kubetest.Node("full-"+namespace, 1))
	urgent := kubetest.Create(t, c, kubetest.PriorityClass("urgent-"+namespace, 1000))
	low := kubetest.Create(t, c, kubetest.Pod(namespace, "low", kubetest.GPUs(1), kubetest.OnNode(node.Name)))
	c.WaitRunning(t, low)
	high := kubetest.Create(t, c, kubetest.Pod(namespace, "high", kubetest.GPUs(1), kubetest.OnNode(node.Name), kubetest.Priority(urgent.Name)))
	c.WaitRunning(t, high)
	c.WaitGone(t, low)
}

// running waits until n pods with these labels run, and returns them.
func running(t *testing.T, c *kubetest.Cluster, namespace, labels string, n int) []corev1.Pod {
	t.Helper()
	var pods []corev1.Pod
	kubetest.WaitFor(t, fmt.Sprintf("%d pods %s to run", n, labels), func(ctx context.Context) error {
		list, err := c.Client().CoreV1().Pods(namespace).List(ctx, metav1.ListOptions{LabelSelector: labels})
		if err != nil {
			return err
		}
		pods = pods[:0]
		for _, pod := range list.Items {
			if pod.Status.Phase == corev1.PodRunning && pod.DeletionTimestamp == nil {
				pods = append(pods, pod)
			}
		}
		if len(pods) != n {
			return fmt.Errorf("%d of %d run", len(pods), len(list.Items))
		}
		return nil
	})
	return pods
}

// waitForBudget waits until the budget has seen so many healthy pods.
func waitForBudget(t *testing.T, c *kubetest.Cluster, namespace, name string, healthy int32) {
	t.Helper()
	kubetest.WaitFor(t, "the disruption budget to be observed", func(ctx context.Context) error {
		budget, err := c.Client().PolicyV1().PodDisruptionBudgets(namespace).Get(ctx, name, metav1.GetOptions{})
		if err == nil && (budget.Status.CurrentHealthy != healthy || budget.Status.ObservedGeneration != budget.Generation) {
			err = fmt.Errorf("it has seen %d healthy pods", budget.Status.CurrentHealthy)
		}
		return err
	})
}
