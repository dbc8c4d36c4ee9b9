package endtoend

import (
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

type tenantsRight struct {
	verb, group, resource, subresource string
	namespace                          string // the tenant's, if empty
	editor, creator                    bool
}

// TestTenantPermissions: the two users have the rights that the guide on enforcement assumes, and
// lack those that it excludes.
func TestTenantPermissions(t *testing.T) {
	t.Parallel()
	s := newTenancy(t, 2)
	for _, test := range tenantsRights(s.others) {
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

// TestTenantsRightsHaveEachPrintedOne fails if the table lacks a right of gpupool's accounts.
// It states for each whether tenants have it as well.
func TestTenantsRightsHaveEachPrintedOne(t *testing.T) {
	t.Parallel()
	o := manifests.Options{
		Namespace: manifests.DefaultNamespace, Image: "gpupool", Schedule: manifests.DefaultSchedule, Timeout: manifests.DefaultTimeout,
		Enforcement: manifests.DefaultEnforcement, FreezeSlots: 1,
		CredentialsSecret: manifests.DefaultCredentialsSecret, BootstrapGroups: []string{"system:bootstrappers:gpu"},
		Nodes: manifests.Nodes{Mark: true, Cordon: true, Delete: true, NoticeWatch: true}, Stock: manifests.Stock{Pools: true},
	}
	all, err := manifests.Objects(o)
	if err != nil {
		t.Fatal(err)
	}
	var rules []rbacv1.PolicyRule
	for _, object := range all {
		switch of := object.Object.(type) {
		case *rbacv1.Role:
			rules = append(rules, of.Rules...)
		case *rbacv1.ClusterRole:
			rules = append(rules, of.Rules...)
		}
	}
	if len(rules) == 0 {
		t.Fatal("no rule is printed")
	}
	table := tenantsRights("")
	for _, r := range rules {
		for _, resource := range r.Resources {
			for _, verb := range r.Verbs {
				resource, subresource, _ := strings.Cut(resource, "/")
				if !slices.ContainsFunc(table, func(row tenantsRight) bool {
					return row.verb == verb && row.group == r.APIGroups[0] && row.resource == resource && row.subresource == subresource
				}) {
					t.Errorf(`no row {"%s", "%s", "%s", "%s", …`, verb, r.APIGroups[0], resource, subresource)
				}
			}
		}
	}
}

func tenantsRights(others string) []tenantsRight {
	return []tenantsRight{
		{"create", "", "pods", "", "", true, true},
		{"patch", "", "pods", "", "", true, false},
		{"delete", "", "pods", "", "", true, false},
		{"create", "", "pods", "eviction", "", true, false},
		{"patch", "", "pods", "status", "", false, false},
		{"create", "", "pods", "binding", "", false, false},
		{"patch", "apps", "deployments", "scale", "", true, false},
		{"patch", "batch", "jobs", "", "", true, false},
		{"patch", "batch", "cronjobs", "", "", true, false},
		{"create", "policy", "poddisruptionbudgets", "", "", true, false},
		{"patch", "resource.k8s.io", "resourceclaims", "status", "", false, false},
		{"create", "resource.k8s.io", "resourceslices", "", "", false, false},
		{"patch", "", "namespaces", "", "", false, false},
		{"patch", "", "nodes", "", "", false, false},
		{"patch", "", "nodes", "status", "", false, false},
		{"patch", "", "resourcequotas", "", "", false, false},
		{"create", "admissionregistration.k8s.io", "validatingadmissionpolicybindings", "", "", false, false},
		{"create", "rbac.authorization.k8s.io", "rolebindings", "", "", false, false},
		{"get", "", "pods", "", others, false, false},
		{"create", "", "pods", "", others, false, false},
		{"get", "", "configmaps", "", "gpupool-system", false, false},
		{"get", "", "secrets", "", "gpupool-system", false, false},
		{"create", "", "serviceaccounts", "token", "gpupool-system", false, false},
		{"create", "", "configmaps", "", "", true, false},
		{"create", "", "events", "", "", true, false},
		{"create", "", "secrets", "", "", true, false},
		{"create", "apps", "deployments", "", "", true, false},
		{"create", "coordination.k8s.io", "leases", "", "", true, false},
		{"delete", "", "configmaps", "", "", true, false},
		{"delete", "", "nodes", "", "", false, false},
		{"delete", "", "secrets", "", "", true, false},
		{"delete", "apps", "deployments", "", "", true, false},
		{"delete", "coordination.k8s.io", "leases", "", "", true, false},
		{"delete", "policy", "poddisruptionbudgets", "", "", true, false},
		{"get", "", "events", "", "", true, false},
		{"get", "", "namespaces", "", "", true, false},
		{"get", "", "nodes", "", "", false, false},
		{"get", "admissionregistration.k8s.io", "validatingadmissionpolicies", "", "", false, false},
		{"get", "apps", "deployments", "", "", true, false},
		{"get", "apps", "replicasets", "", "", true, false},
		{"get", "apps", "statefulsets", "", "", true, false},
		{"get", "batch", "jobs", "", "", true, false},
		{"get", "batch", "cronjobs", "", "", true, false},
		{"get", "coordination.k8s.io", "leases", "", "", true, false},
		{"get", "policy", "poddisruptionbudgets", "", "", true, false},
		{"list", "", "configmaps", "", "", true, false},
		{"list", "", "events", "", "", true, false},
		{"list", "", "namespaces", "", "", true, false},
		{"list", "", "nodes", "", "", false, false},
		{"list", "", "pods", "", "", true, false},
		{"list", "", "secrets", "", "", true, false},
		{"list", "admissionregistration.k8s.io", "validatingadmissionpolicybindings", "", "", false, false},
		{"list", "apps", "deployments", "", "", true, false},
		{"list", "apps", "replicasets", "", "", true, false},
		{"list", "apps", "statefulsets", "", "", true, false},
		{"list", "batch", "jobs", "", "", true, false},
		{"list", "autoscaling", "horizontalpodautoscalers", "", "", true, false},
		{"list", "policy", "poddisruptionbudgets", "", "", true, false},
		{"list", "resource.k8s.io", "resourceclaims", "", "", true, false},
		{"list", "resource.k8s.io", "resourceslices", "", "", false, false},
		{"list", "scheduling.k8s.io", "priorityclasses", "", "", false, false},
		{"patch", "apps", "deployments", "", "", true, false},
		{"patch", "policy", "poddisruptionbudgets", "", "", true, false},
		{"update", "", "configmaps", "", "", true, false},
		{"update", "", "events", "", "", true, false},
		{"update", "", "secrets", "", "", true, false},
		{"update", "admissionregistration.k8s.io", "validatingadmissionpolicybindings", "", "", false, false},
		{"update", "apps", "deployments", "scale", "", true, false},
		{"update", "apps", "statefulsets", "scale", "", true, false},
		{"update", "coordination.k8s.io", "leases", "", "", true, false},
		{"watch", "", "namespaces", "", "", true, false},
		{"watch", "", "nodes", "", "", false, false},
		{"watch", "", "pods", "", "", true, false},
		{"watch", "resource.k8s.io", "resourceclaims", "", "", true, false},
	}
}
