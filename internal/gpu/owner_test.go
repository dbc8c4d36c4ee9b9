package gpu_test

import (
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// TestOwnersThatNoObjectCanBe: the API server only requires an owner not to be empty. A user who
// can create pods could otherwise add lines to reports, or write records that exceed the size
// limit.
func TestOwnersThatNoObjectCanBe(t *testing.T) {
	t.Parallel()
	actual := metav1.OwnerReference{APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a-5d464bdb98", UID: "8bf2ba0c-c57f-4205-9e38-d10614b1e56d"}
	custom := metav1.OwnerReference{APIVersion: "ray.io/v1alpha1", Kind: "RayCluster", Name: "my.cluster", UID: "u"}
	node := metav1.OwnerReference{APIVersion: "v1", Kind: "Node", Name: "10.0.0.1", UID: "u"}
	for _, o := range []metav1.OwnerReference{actual, custom, node} {
		if got, want := owner(t, o), (ledger.Owner{APIVersion: o.APIVersion, Kind: o.Kind, Name: o.Name, UID: string(o.UID)}); got == nil || *got != want {
			t.Errorf("the owner is %+v, want %+v", got, want)
		}
	}
	long := strings.Repeat("x", 300)
	for _, text := range []string{"a/b", "a%b", "..", "/", "a b", "a\nb: within its limit", "a\x1b[2Jb", "a\u2028b", long, ""} {
		for what, o := range map[string]metav1.OwnerReference{
			"name": {APIVersion: "apps/v1", Kind: "ReplicaSet", Name: text, UID: "u"},
			"uid":  {APIVersion: "apps/v1", Kind: "ReplicaSet", Name: "a", UID: types.UID(text)},
			"kind": {APIVersion: "apps/v1", Kind: text, Name: "a", UID: "u"}, "version": {APIVersion: "apps/" + text, Kind: "ReplicaSet", Name: "a", UID: "u"},
			"group": {APIVersion: text + "!/v1", Kind: "ReplicaSet", Name: "a", UID: "u"},
		} {
			if got := owner(t, o); got != nil {
				t.Errorf("a pod with the %s %q has the owner %+v", what, text, got)
			}
		}
	}
}

func owner(t *testing.T, o metav1.OwnerReference) *ledger.Owner {
	t.Helper()
	o.Controller = ptr(true)
	p := pod(asks("nvidia.com/gpu=1"))
	p.OwnerReferences = []metav1.OwnerReference{o}
	return see(t, p).Owner
}
