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

// StockLookRules are what a look at one stock pool needs.
func StockLookRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "namespaces", "get"),
		rule(core, "pods", "list"),
		rule(apps, "deployments", "get"),
		rule(policies, "poddisruptionbudgets", "get"),
	}
}

// StockListRules are what a look at all of them at once needs, which runs take.
func StockListRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(apps, "deployments", "list"),
		rule(policies, "poddisruptionbudgets", "list"),
	}
}

// StockRules are what is needed to keep stock pools. What exactly may be changed is
// limited further: see stockLimits.
func StockRules() []rbacv1.PolicyRule {
	return []rbacv1.PolicyRule{
		rule(core, "pods", "patch"), // of what a scale-down goes by alone
		rule(apps, "deployments", "create", "patch", "delete"),
		rule(policies, "poddisruptionbudgets", "create", "patch", "delete"),
	}
}

// stockPools gives both accounts what stock pools need: to look everywhere, since a run
// looks once for all pools, and to change what is in their namespaces.
func (o Options) stockPools() []Object {
	if !o.Stock.Pools {
		return nil
	}
	all := slices.Concat(
		o.granted("stock-look", "To look at stock pools.", StockLookRules(), ReconcileAccount, TerraformAccount),
		o.granted("stock-list", "To look at all stock pools at once.", StockListRules(), ReconcileAccount),
	)
	const name, why = "stock-pools", "To keep Deployments of stock pools, which the policies above limit."
	if len(o.Stock.Namespaces) == 0 {
		return append(all, o.granted(name, why, StockRules(), ReconcileAccount, TerraformAccount)...)
	}
	for _, namespace := range slices.Compact(slices.Sorted(slices.Values(o.Stock.Namespaces))) {
		all = append(all, o.grantedIn(namespace, name, why, StockRules(), ReconcileAccount, TerraformAccount)...)
	}
	return all
}
