package endtoend

import (
	"testing"

	"k8s.io/client-go/kubernetes"
)

// TestWhatTenantsMay shows that the two users have the rights that the guide on
// enforcement takes them to have, and lack those that it takes them to lack.
func TestWhatTenantsMay(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 2)
	for _, test := range []struct {
		verb, group, resource, subresource string
		namespace                          string // the tenant's, where it is empty
		editor, creator                    bool
	}{
		{"create", "", "pods", "", "", true, true},
		{"patch", "", "pods", "", "", true, false},
		{"delete", "", "pods", "", "", true, false},
		{"create", "", "pods", "eviction", "", true, false},
		{"patch", "", "pods", "status", "", false, false},
		{"create", "", "pods", "binding", "", false, false},
		{"patch", "apps", "deployments", "scale", "", true, false},
		{"patch", "batch", "jobs", "", "", true, false},
		{"create", "policy", "poddisruptionbudgets", "", "", true, false},
		{"patch", "resource.k8s.io", "resourceclaims", "status", "", false, false},
		{"create", "resource.k8s.io", "resourceslices", "", "", false, false},
		{"patch", "", "namespaces", "", "", false, false},
		{"patch", "", "nodes", "", "", false, false},
		{"patch", "", "nodes", "status", "", false, false},
		{"patch", "", "resourcequotas", "", "", false, false},
		{"create", "admissionregistration.k8s.io", "validatingadmissionpolicybindings", "", "", false, false},
		{"create", "rbac.authorization.k8s.io", "rolebindings", "", "", false, false},
		{"get", "", "pods", "", s.others, false, false},
		{"create", "", "pods", "", s.others, false, false},
		{"get", "", "configmaps", "", "gpupool-system", false, false},
		{"get", "", "secrets", "", "gpupool-system", false, false},
		{"create", "", "serviceaccounts", "token", "gpupool-system", false, false},
	} {
		namespace := test.namespace
		if namespace == "" {
			namespace = s.namespace
		}
		for user, client := range map[string]kubernetes.Interface{"edit": s.editor, "create pods": s.creator} {
			want := test.editor
			if user == "create pods" {
				want = test.creator
			}
			err := may(t.Context(), client, namespace, test.verb, test.group, test.resource, test.subresource)
			if (err == nil) != want {
				t.Errorf("%s may %s %s/%s: %v, want %t", user, test.verb, test.resource, test.subresource, err == nil, want)
			}
		}
	}
}
