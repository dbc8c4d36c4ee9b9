package manifests

import (
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// The API groups of reviews.
const (
	authentication = "authentication.k8s.io"
	authorization  = "authorization.k8s.io"
)

// ReviewRules are the rights to ask who a user of the API is, and what they may do.
func ReviewRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(authentication, "tokenreviews", "create"),
		rule(authorization, "subjectaccessreviews", "create"),
	}
}

// APIReaderRules are the virtual rights of users who read. No resource of these names exists in the
// cluster: only gpupool serve asks for them.
func APIReaderRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{{
		APIGroups: []string{access.Group}, Verbs: []string{access.Get},
		Resources: []string{access.Budgets, access.Jobs, access.Metrics, access.SpotPools, access.StockPools},
	}}
}

// APIRequesterRules are the virtual rights of users who also request. Grants, holds and runs concern
// all namespaces, and so need a ClusterRoleBinding.
func APIRequesterRules() []rbacv1.PolicyRule {
	return append(APIReaderRules(),
		rbacv1.PolicyRule{
			APIGroups: []string{access.Group}, Verbs: []string{access.Create},
			Resources: []string{access.Grants, access.Holds, access.Runs, access.StockPools},
		},
		rule(access.Group, access.Jobs, access.Delete))
}

// api returns the rights of the server, and the roles of its users, which the operator binds.
func (g grants) api() []Object {
	if !g.reviews() {
		return nil
	}
	all := g.everywhere("api-review", "To check the users of the API and their rights.", ReviewRules(), ReconcileAccount)
	for _, r := range []struct {
		name, why string
		rules     []rbacv1.PolicyRule
	}{
		{"api-reader", "For users of the API who read. Bind it in a namespace, or for all by a ClusterRoleBinding.", APIReaderRules()},
		{"api-requester", "For users of the API who also request. In a namespace, it allows stock pools only.", APIRequesterRules()},
	} {
		all = append(all, Object{r.why, &rbacv1.ClusterRole{
			TypeMeta: kindOf(rbac, "ClusterRole"), ObjectMeta: metav1.ObjectMeta{Name: g.Namespace + "-" + r.name, Labels: labels()}, Rules: r.rules,
		}})
	}
	return all
}
