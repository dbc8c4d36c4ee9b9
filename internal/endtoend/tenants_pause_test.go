package endtoend

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// deploy creates a Deployment as the tenant with edit, and waits for its pods.
func (s *tenancy) deploy(d *appsv1.Deployment) {
	s.t.Helper()
	if _, err := s.editor.AppsV1().Deployments(s.namespace).Create(s.t.Context(), d, metav1.CreateOptions{}); err != nil {
		s.t.Fatal(err)
	}
	kubetest.WaitFor(s.t, "the Deployment's pods to run", func(ctx context.Context) error {
		now, err := s.editor.AppsV1().Deployments(s.namespace).Get(ctx, d.Name, metav1.GetOptions{})
		if err == nil && now.Status.ReadyReplicas != *d.Spec.Replicas {
			err = errors.New("not yet")
		}
		return err
	})
}

func (s *tenancy) replicas(name string) int32 {
	s.t.Helper()
	d, err := s.editor.AppsV1().Deployments(s.namespace).Get(s.t.Context(), name, metav1.GetOptions{})
	if err != nil {
		s.t.Fatal(err)
	}
	return *d.Spec.Replicas
}

func (s *tenancy) scale(name string, replicas string) {
	s.t.Helper()
	patch := []byte(`{"spec":{"replicas":` + replicas + `}}`)
	if _, err := s.editor.AppsV1().Deployments(s.namespace).Patch(s.t.Context(), name, types.MergePatchType, patch, metav1.PatchOptions{},
		"scale"); err != nil {
		s.t.Fatal(err)
	}
}

// TestOwnersThatAreForgedAreNotPaused has one who may only create pods name others'
// workloads of the namespace as his pods' owners.
func TestOwnersThatAreForgedAreNotPaused(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 8)
	s.ineffective = true
	s.declareOwn(`{"gpu_hours":"0.001","enforcement":{"action":"pause"}}`)
	s.deploy(kubetest.Deployment(s.namespace, "prod-api", 2)) // without a GPU
	deployment, err := s.editor.AppsV1().Deployments(s.namespace).Get(t.Context(), "prod-api", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sets, err := s.editor.AppsV1().ReplicaSets(s.namespace).List(t.Context(), metav1.ListOptions{})
	if err != nil || len(sets.Items) != 1 {
		t.Fatalf("%d ReplicaSets: %v", len(sets.Items), err)
	}
	set := sets.Items[0]
	store, err := s.editor.AppsV1().StatefulSets(s.namespace).Create(t.Context(), kubetest.StatefulSet(s.namespace, "prod-db", 1), metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	owned := func(kind, name string, uid types.UID) kubetest.PodOption {
		return func(pod *corev1.Pod) {
			pod.OwnerReferences = []metav1.OwnerReference{{APIVersion: "apps/v1", Kind: kind, Name: name, UID: uid, Controller: new(true)}}
		}
	}
	// A ReplicaSet with an owner of the same name, which does not exist.
	s.create(s.creator, "of-deployment", kubetest.GPUs(2), s.onNode(1), owned("Deployment", "prod-api", deployment.UID))
	s.create(s.creator, "of-replicaset", kubetest.GPUs(2), s.onNode(1), owned("ReplicaSet", set.Name, set.UID))
	s.create(s.creator, "of-statefulset", kubetest.GPUs(2), s.onNode(1), owned("StatefulSet", store.Name, store.UID))
	r := s.turnUntil("the budget to be exceeded", func(r turn) bool { return *s.budget(r, "own").Exceeded })
	for range 3 {
		r = s.turn()
		time.Sleep(300 * time.Millisecond)
	}
	if n := s.replicas("prod-api"); n != 2 {
		t.Errorf("prod-api was scaled to %d", n)
	}
	if now, err := s.editor.AppsV1().StatefulSets(s.namespace).Get(t.Context(), "prod-db", metav1.GetOptions{}); err != nil || *now.Spec.Replicas != 1 {
		t.Errorf("prod-db was scaled to %d: %v", *now.Spec.Replicas, err)
	}
	for _, name := range []string{"of-deployment", "of-statefulset"} {
		if s.pod(name) != nil && !strings.Contains(r.text, name) {
			t.Errorf("nothing is said of %s, which holds GPUs and can't be paused:\n%s", name, r.text)
		}
	}
	s.wantUsage(r, "own", s.ofTenant)
}

// TestAPausedWorkloadIsStartedAgain has a tenant start what was paused, and mark
// another beforehand as if it were paused.
func TestAPausedWorkloadIsStartedAgain(t *testing.T) {
	t.Parallel()
	for name, document := range map[string]string{
		"declared":     `{"gpu_hours":"0.001","enforcement":{"action":"pause"}}`,
		"paused again": `{"gpu_hours":"0.001","enforcement":{"action":"pause","on_manual_resume":"pause"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newTenancy(t, 8)
			s.declareOwn(document)
			marked := kubetest.Deployment(s.namespace, "marked", 1, kubetest.GPUs(1), kubetest.OnNode(s.nodes[1].Name))
			marked.Labels = map[string]string{"gpupool/paused-by": "absent"}
			marked.Annotations = map[string]string{"gpupool/paused-by": "absent", "gpupool/replicas": "1", "gpupool/paused-replicas": "1"}
			s.deploy(kubetest.Deployment(s.namespace, "train", 2, kubetest.GPUs(1), kubetest.OnNode(s.nodes[1].Name)))
			s.deploy(marked)
			s.turnUntil("the workloads to be paused", func(turn) bool { return s.replicas("train") == 0 && s.replicas("marked") == 0 })
			s.scale("train", "2")
			kubetest.WaitFor(t, "the workload to run again", func(ctx context.Context) error {
				// The Deployment's status may still be that of before the pause.
				pods, err := s.editor.CoreV1().Pods(s.namespace).List(ctx, metav1.ListOptions{})
				running := 0
				for n := range pods.Items {
					if p := &pods.Items[n]; strings.HasPrefix(p.Name, "train-") && p.DeletionTimestamp == nil && p.Status.Phase == corev1.PodRunning {
						running++
					}
				}
				if err == nil && running != 2 {
					err = fmt.Errorf("%d of its pods run", running)
				}
				return err
			})
			if name == "paused again" {
				s.turnUntil("the workload to be paused again", func(turn) bool { return s.replicas("train") == 0 })
				return
			}
			r := s.turn()
			if s.replicas("train") != 2 {
				t.Error("it was paused again without a declaration")
			}
			if !strings.Contains(strings.Join(s.budget(r, "own").Warnings.Texts(), "\n"), "train") {
				t.Errorf("nothing warns of a paused workload that holds GPUs:\n%s", r.text)
			}
			s.wantUsage(r, "own", s.ofTenant)
		})
	}
}

// TestAPauseKeepsVolumes: a StatefulSet whose claims are deleted with its pods is not paused,
// and is reported.
func TestAPauseKeepsVolumes(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 8)
	s.ineffective = true
	s.declareOwn(`{"gpu_hours":"0.001","enforcement":{"action":"pause"}}`)
	set := kubetest.StatefulSet(s.namespace, "ckpt", 2, kubetest.GPUs(1), kubetest.OnNode(s.nodes[1].Name))
	set.Spec.PersistentVolumeClaimRetentionPolicy = &appsv1.StatefulSetPersistentVolumeClaimRetentionPolicy{
		WhenScaled: appsv1.DeletePersistentVolumeClaimRetentionPolicyType, WhenDeleted: appsv1.RetainPersistentVolumeClaimRetentionPolicyType,
	}
	if _, err := s.editor.AppsV1().StatefulSets(s.namespace).Create(t.Context(), set, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.waitForPods(2)
	s.turnUntil("the budget to be exceeded", func(r turn) bool { return *s.budget(r, "own").Exceeded })
	r := s.turn()
	now, err := s.editor.AppsV1().StatefulSets(s.namespace).Get(t.Context(), "ckpt", metav1.GetOptions{})
	if err != nil || *now.Spec.Replicas != 2 {
		t.Errorf("it was scaled to %d: %v", *now.Spec.Replicas, err)
	}
	if !strings.Contains(r.text, "ckpt") {
		t.Errorf("nothing is said of it:\n%s", r.text)
	}
}
