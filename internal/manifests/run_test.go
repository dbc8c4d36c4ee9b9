package manifests_test

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	rbacv1 "k8s.io/api/rbac/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// part is a piece of what runs do, after which every right that it needs has been
// used. do returns what went wrong.
type part struct {
	name    string
	rights  func() []rbacv1.PolicyRule
	prepare func(w *world)
	do      func(w *world) error
}

func reconciling() []rbacv1.PolicyRule {
	o := withAll()
	return slices.Concat(manifests.ObserveRules(), manifests.LiftRules(o), manifests.EnforceRules(o), manifests.NodeRules(o), stocking(),
		manifests.StockListRules())
}

func declaring() []rbacv1.PolicyRule {
	o := withAll()
	return slices.Concat(manifests.DeclareRules(), manifests.LiftRules(o), manifests.NodeRules(o), manifests.DrainRules(o), stocking())
}

// noticing are an agent's, and those by which a world tells that rights are in force.
func noticing() []rbacv1.PolicyRule {
	return slices.Concat(manifests.NoticeRules(), manifests.DeclareRules())
}

const (
	countsClaims     = "counts"
	countsWhatIsGone = "counts what is gone"

	drainsAsARun      = "drains as a run"
	drainsAsTerraform = "drains as Terraform"
)

// ownTo are the rights that one part needs for what it prepares. Others may use
// them by chance: the parts share a cluster, and so each other's pods.
var ownTo = map[string]string{
	"list resourceclaims": countsClaims, "watch resourceclaims": countsClaims, "watch namespaces": countsWhatIsGone,
}

var parts = []part{
	{drainsAsARun, reconciling, prepareNode, drains},
	{drainsAsTerraform, declaring, prepareNode, drains},
	{stocksAsARun, reconciling, prepareStock, stocksInRuns},
	{stocksAsTerraform, declaring, prepareStock, stocksByApplies},
	{"gives notice", noticing, prepareNode, givesNotice},
	{countsClaims, reconciling, prepareClaims, counts},
	{countsWhatIsGone, reconciling, prepareByNamespace, countsGone},
	{"asks Events", reconciling, prepareVanished, func(w *world) error { return w.run() }},
	{"alerts", reconciling, prepareUsed(budget.AlertOnly), alerts},
	{"freezes", reconciling, prepareUsed(budget.Freeze), freezes},
	{"pauses", reconciling, prepareWorkloads, pauses},
	{"evicts", reconciling, prepareUsed(budget.Evict), evicts},
	{"destroys", declaring, prepareEnforced, destroys},
}

// TestRunsUnderExactlyTheRightsThatArePrinted does all that runs do with the printed rights. It
// shows that each is used, and removes them one by one: the error then names the missing right.
func TestRunsUnderExactlyTheRightsThatArePrinted(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	o := options()
	o.Namespace = cluster.Namespace(t)
	apply(t, cluster, objects(t, o)) // the freeze policy, above all
	var mu sync.Mutex
	usedBy := map[string][]string{} // by the account's rights, and the right
	t.Run("with all", func(t *testing.T) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cluster, p, "")
				if err := p.do(w); err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				for call := range w.client.Calls() {
					if owner, owned := ownTo[call]; owned && owner != p.name {
						continue
					}
					usedBy[call] = append(usedBy[call], p.name)
				}
			})
		}
	})
	for _, right := range verbs(stocking()) {
		if !slices.Contains(usedBy[right], stocksAsTerraform) {
			t.Errorf("Terraform does not use %s", right)
		}
	}
	granted := verbs(slices.Concat(reconciling(), declaring(), manifests.NoticeRules()))
	store := verbs(manifests.StoreRules())
	used := slices.Sorted(maps.Keys(usedBy))
	used = slices.DeleteFunc(used, func(right string) bool { return slices.Contains(store, right) })
	if diff := cmp.Diff(granted, used); diff != "" {
		t.Fatalf("what is granted is not what is used (-granted +used)\n%s", diff)
	}
	for _, right := range verbs(manifests.DrainRules(withAll())) {
		// Claims are asked for where a pod has one.
		if right != "list resourceclaims" && !slices.Contains(usedBy[right], drainsAsTerraform) {
			t.Errorf("Terraform does not use %s", right)
		}
	}
	for _, right := range granted {
		// From the last on: what only counts or alerts does without the right to see
		// what is in force.
		for _, p := range slices.Backward(parts) {
			if !slices.Contains(usedBy[right], p.name) {
				continue
			}
			t.Run("without "+right, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cluster, p, right)
				verb, resource, _ := strings.Cut(right, " ")
				err := p.do(w)
				if err == nil || !strings.Contains(err.Error(), "needs the verb "+verb+" on "+resource) {
					t.Errorf("got %v, want a failure or warning that says that the role needs %s; the last run reports %+v", err, right, w.last)
				}
			})
			break
		}
	}
}
