package spotpool_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const otherCluster = "00000000-0000-0000-0000-000000000000"

// asNodes has a pool's instances become nodes.
var asNodes = providertest.Values{"nodes": providertest.Values{}}

// The nodes of a pool belong to one cluster: with another one, nothing is planned,
// changed or destroyed. Without nodes, the pool may move.
func TestNodesOfAnotherCluster(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	o := create(t, s, train(asNodes))
	before := len(w.Sim.Server.Calls())
	foreign := o.With("cluster_uid", otherCluster)
	larger := train(asNodes).With(providertest.Values{"minimum": 3})
	contains(t, s.Plan(&foreign, larger).Diagnostics, "ERROR", "Wrong cluster", otherCluster, w.ClusterUID(), "apply it without nodes first")
	_, diags := s.Apply(s.Plan(&foreign, nil))
	contains(t, diags, "ERROR", "Wrong cluster", "Nothing was changed")
	if p := s.Plan(&foreign, train(nil)); strings.Contains(p.Diagnostics.String(), "ERROR") {
		t.Errorf("the pool can't give its nodes up: %s", p.Diagnostics)
	}
	changesNothing(t, w, before)
	own := foreign.With("cluster_uid", w.ClusterUID())
	s.Destroy(&own)
}

// A budget of another cluster says nothing about the pods on a pool's nodes.
func TestABudgetOfAnotherCluster(t *testing.T) {
	t.Parallel()
	w := providertest.NewWithCluster(t)
	s := serve(t, w)
	declareBudget(t, w)
	own := w.ClusterUID()
	belongsTo := func(uid string) {
		w.Rewrite("team-a", func(r *declaration.Budget) { r.Declaration.ClusterUID = uid })
	}
	config := train(gated).With(asNodes)
	planned := s.Plan(nil, config)
	if strings.Contains(planned.Diagnostics.String(), "ERROR") {
		t.Fatalf("with a budget of its own cluster: %s", planned.Diagnostics)
	}
	belongsTo(otherCluster)
	refused := []string{
		"ERROR", "Wrong cluster", "budget/team-a counts pods of the cluster", otherCluster, own, "Set a budget of the pool's own cluster, or none",
	}
	contains(t, s.Plan(nil, config).Diagnostics, refused...)
	_, diags := s.Apply(planned) // it was another when that was planned
	contains(t, diags, refused...)
	if p := s.Plan(nil, train(gated)); strings.Contains(p.Diagnostics.String(), "ERROR") {
		t.Errorf("a pool without nodes: %s", p.Diagnostics)
	}
	changesNothing(t, w, 0)
	if docs, err := w.Store().List(t.Context(), store.SpotPools); err != nil || len(docs) > 0 {
		t.Errorf("%d pools are recorded (%v)", len(docs), err)
	}
}

// changesNothing fails where a call since the first so many changes something.
func changesNothing(t *testing.T, w *providertest.World, since int) {
	t.Helper()
	for _, c := range w.Sim.Server.Calls()[since:] {
		if c.TookEffect {
			t.Errorf("%s was called", c.Action)
		}
	}
}
