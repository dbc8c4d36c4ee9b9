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

// Stock are the rights that stock pools need.
type Stock struct {
	Pools bool // there may be some
	// Namespaces are those in which they may be; none for all but the system's, the
	// store's and the run's.
	Namespaces []string
}

// withoutStock are the namespaces in which no stock pool can be.
func (o Options) withoutStock() []string {
	return append(budget.SystemNamespaces(), o.Namespace, o.runNamespace())
}

// validateStock says which namespaces can't have stock pools.
func (o Options) validateStock() error {
	if len(o.Stock.Namespaces) > 0 && !o.Stock.Pools {
		return errors.New("--stock-namespaces says in which namespaces stock pools may be, and needs --stock-pools")
	}
	for _, name := range o.Stock.Namespaces {
		if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
			return fmt.Errorf("%q is no namespace for stock pools: %s", name, strings.Join(problems, "; "))
		}
		if slices.Contains(o.withoutStock(), name) {
			return fmt.Errorf("%s can't have stock pools: whoever has an account of gpupool could run pods beside the accounts, the store or the system", name)
		}
	}
	return nil
}

// StockObserveRules are what observing one stock pool needs.
func StockObserveRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "namespaces", "get"),
		rule(core, "pods", "list"),
		rule(apps, "deployments", "get"),
		rule(apps, "replicasets", "list"), // whose pods are that a Deployment does not count
		rule(policies, "poddisruptionbudgets", "get"),
	}
}

// StockListRules are what observing all of them at once needs, as runs do.
func StockListRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(apps, "deployments", "list"),
		rule(policies, "poddisruptionbudgets", "list"),
	}
}

// StockRules are what is needed to keep stock pools. What exactly may be changed is
// limited further: see limits.stockPools.
func StockRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "pods", "patch"), // of what a scale-down goes by alone
		rule(apps, "deployments", "create", "patch", "delete"),
		rule(policies, "poddisruptionbudgets", "create", "patch", "delete"),
	}
}
