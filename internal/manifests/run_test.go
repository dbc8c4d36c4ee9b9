package manifests_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

// part is a piece of what gpupool does in a cluster, by an account and with as few options of the
// manifests as it needs. do returns what went wrong.
type part struct {
	name    string
	account string
	options func(o *manifests.Options) // nil for the defaults, which only alert
	prepare func(w *world)
	do      func(w *world) error
}

func (p *part) grants(t *testing.T) []grant {
	t.Helper()
	o := options()
	o.Enforcement = budget.AlertOnly
	if p.options != nil {
		p.options(&o)
	}
	return slices.DeleteFunc(grantsOf(objects(t, o)), func(g grant) bool { return g.account != p.account })
}

// play does the part in a world, and returns what went wrong.
func (p *part) play(w *world) error {
	if w.opened != nil {
		return w.opened
	}
	return p.do(w)
}

func enforcing(action budget.Action) func(o *manifests.Options) {
	return func(o *manifests.Options) { o.Enforcement = action }
}

func draining(o *manifests.Options) {
	o.Enforcement, o.Nodes = budget.Evict, manifests.Nodes{Mark: true, Cordon: true, Delete: true}
}

func stocking(o *manifests.Options)   { o.Stock.Pools = true }
func noticing(o *manifests.Options)   { o.NoticeWatch = true }
func bootstraps(o *manifests.Options) { o.BootstrapGroups = withAll().BootstrapGroups }
func serving(o *manifests.Options)    { o.API = true }

const (
	countsClaims     = "counts"
	countsWhatIsGone = "counts what is gone"
)

// ownTo are the rights that one part needs for what it prepares. Others may use them by chance: the
// parts share a cluster, and so each other's pods.
var ownTo = map[string]string{
	"list resourceclaims": countsClaims, "watch resourceclaims": countsClaims, "watch namespaces": countsWhatIsGone,
}

var parts = []part{
	{"uses the store", manifests.TerraformAccount, nil, nil, useStore},
	{"drains as a run", manifests.ReconcileAccount, draining, prepareNode, drains},
	{"drains as Terraform", manifests.TerraformAccount, draining, prepareNode, drains},
	{"keeps stock as a run", manifests.ReconcileAccount, stocking, prepareStock, stocksInRuns},
	{"keeps stock as Terraform", manifests.TerraformAccount, stocking, prepareStock, stocksByApplies},
	{"makes tokens as a run", manifests.ReconcileAccount, bootstraps, nil, makesToken},
	{"makes tokens as Terraform", manifests.TerraformAccount, bootstraps, nil, makesToken},
	{"gives notice", manifests.NoticeAccount, noticing, prepareNode, givesNotice},
	{"reviews users", manifests.ReconcileAccount, serving, nil, reviews},
	{countsClaims, manifests.ReconcileAccount, nil, prepareClaims, counts},
	{countsWhatIsGone, manifests.ReconcileAccount, nil, prepareByNamespace, countsGone},
	{"asks Events", manifests.ReconcileAccount, nil, prepareVanished, func(w *world) error { return w.run() }},
	{"alerts", manifests.ReconcileAccount, nil, prepareUsed(budget.AlertOnly), alerts},
	{"freezes", manifests.ReconcileAccount, enforcing(budget.Freeze), prepareUsed(budget.Freeze), freezes},
	{"pauses", manifests.ReconcileAccount, enforcing(budget.Pause), prepareWorkloads, pauses},
	{"evicts", manifests.ReconcileAccount, enforcing(budget.Evict), prepareUsed(budget.Evict), evicts},
	{"destroys", manifests.TerraformAccount, enforcing(budget.Pause), prepareEnforced, destroys},
}

// TestRunsUnderExactlyTheRightsThatArePrinted does all that gpupool does in a cluster, each part with
// the rights that the manifests print for it. It shows that each of these is needed. Then it removes
// some of them, and the error names the missing right; make soak removes each.
func TestRunsUnderExactlyTheRightsThatArePrinted(t *testing.T) {
	t.Parallel()
	cluster := kubetest.Start(t)
	o := options()
	o.Namespace, o.FreezeSlots = cluster.Namespace(t), len(kubecluster.FreezeSlotNames()) // the parts share them
	apply(t, cluster, objects(t, o))                                                      // the freeze policy, above all
	var mu sync.Mutex
	calls := map[string][]apiCall{} // by part
	t.Run("with all", func(t *testing.T) {
		for _, p := range parts {
			t.Run(p.name, func(t *testing.T) {
				t.Parallel()
				w := newWorld(t, cluster, p, "")
				if err := p.play(w); err != nil {
					t.Fatal(err)
				}
				mu.Lock()
				defer mu.Unlock()
				calls[p.name] = w.calls.recorded(w.home)
			})
		}
	})
	if t.Failed() {
		return
	}
	t.Run("each is needed", func(t *testing.T) { eachGrantIsNeeded(t, calls) })
	type need struct {
		grant
		part
	}
	needs := map[string]need{} // by right: the last part that stops without it
	for _, p := range parts {
		grants := p.grants(t)
		for _, g := range grants {
			if owner, owned := ownTo[g.verb+" "+g.resource]; owned && owner != p.name {
				continue
			}
			if _, refused := firstRefused(withoutRight(grants, g.right()), calls[p.name]); refused {
				needs[g.right()] = need{g, p}
			}
		}
	}
	for _, right := range soaktest.Sample(slices.Sorted(maps.Keys(needs))) {
		t.Run("without "+right, func(t *testing.T) {
			t.Parallel()
			n := needs[right]
			w := newWorld(t, cluster, n.part, right)
			err, says := n.play(w), "needs the verb "+n.verb+" on "+n.resource
			if renews := n.verb == "update" && n.resource == "leases"; err == nil || renews != errors.Is(err, errLost) ||
				!renews && !strings.Contains(err.Error(), says) {
				t.Errorf("got %v, want an error or warning that says that the role %s; the last run reports %+v", err, says, w.last)
			}
		})
	}
}

func withoutRight(grants []grant, right string) []grant {
	return slices.DeleteFunc(slices.Clone(grants), func(g grant) bool { return g.right() == right })
}

// firstRefused returns the first call that none of the grants allows.
func firstRefused(grants []grant, calls []apiCall) (apiCall, bool) {
	at := slices.IndexFunc(calls, func(c apiCall) bool {
		return !slices.ContainsFunc(grants, func(g grant) bool { return g.allows(c) })
	})
	if at < 0 {
		return apiCall{}, false
	}
	return calls[at], true
}

// eachGrantIsNeeded removes each printed verb of each rule, and each account of each binding. Some
// part must then have made a call that is refused.
func eachGrantIsNeeded(t *testing.T, calls map[string][]apiCall) {
	t.Helper()
	needed := map[string]bool{} // what was removed
	removals := func(g grant) []string {
		return []string{
			"the role " + g.role + " needs the verb " + g.verb + " on " + strings.TrimPrefix(g.group+"/"+g.resource, "/"),
			"the role " + g.role + " is bound to " + g.account,
		}
	}
	for _, p := range parts {
		grants := p.grants(t)
		if c, refused := firstRefused(grants, calls[p.name]); refused {
			t.Errorf("%s: %s may not %v", p.name, p.account, c)
		}
		for _, g := range grants {
			for _, removal := range removals(g) {
				less := slices.DeleteFunc(slices.Clone(grants), func(g grant) bool { return slices.Contains(removals(g), removal) })
				_, refused := firstRefused(less, calls[p.name])
				needed[removal] = needed[removal] || refused
			}
		}
	}
	for name, o := range printings() {
		for _, g := range grantsOf(objects(t, o)) {
			for _, removal := range removals(g) {
				if !needed[removal] {
					t.Errorf("with %s: nothing shows that %s", name, removal)
					needed[removal] = true // once is enough
				}
			}
		}
	}
}
