package manifests

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Stock are the rights for stock pools.
type Stock struct {
	Pools bool // there may be some
	// Namespaces are the allowed ones; none for all but those of the system, the store and the
	// runs.
	Namespaces []string
}

// excludedNamespaces returns the namespaces in which stock pools are not allowed.
func (o Options) excludedNamespaces() []string {
	return append(budget.SystemNamespaces(), o.Namespace, o.runNamespace())
}

// validateStock rejects namespaces in which stock pools are not allowed.
func (o Options) validateStock() error {
	if len(o.Stock.Namespaces) > 0 && !o.Stock.Pools {
		return errors.New("--stock-namespaces selects the namespaces of stock pools, and needs --stock-pools")
	}
	for _, name := range o.Stock.Namespaces {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("%q is not a namespace for stock pools: %s", name, strings.Join(problems, "; "))
		}
		if slices.Contains(o.excludedNamespaces(), name) {
			return fmt.Errorf("%s cannot have stock pools: the accounts of gpupool could run pods next to the accounts, the store or the system", name)
		}
	}
	return nil
}

// StockObserveRules are the rights to observe one stock pool.
func StockObserveRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "namespaces", "get"),
		rule(core, "pods", "list"),
		rule(apps, "deployments", "get"),
		rule(apps, "replicasets", "list"), // for pods that a Deployment does not count
		rule(policies, "poddisruptionbudgets", "get"),
	}
}

// StockListRules are the rights to observe all stock pools at once, as runs do.
func StockListRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(apps, "deployments", "list"),
		rule(policies, "poddisruptionbudgets", "list"),
	}
}

// StockRules are the rights to keep stock pools. A policy limits them further: see
// limits.stockPools.
func StockRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "pods", "patch"), // only the pod deletion cost
		rule(apps, "deployments", "create", "patch", "delete"),
		rule(policies, "poddisruptionbudgets", "create", "patch", "delete"),
	}
}
