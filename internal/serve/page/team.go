package page

import (
	"context"
	"net/http"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// team is what the people of a namespace want to know: what is left, when it recovers, and why.
type team struct {
	Namespace string
	Budgets   []teamBudget
	Lists     []list
	Requests  requests
}

type teamBudget struct {
	row
	budgets.Description
	Columns []string
	// Here is the usage of this namespace, if the budget has others.
	Here string
}

func (s *site) team(w http.ResponseWriter, r *http.Request) {
	namespace := r.PathValue("namespace")
	s.show(w, r, "team", func(ctx context.Context) (frame, error) {
		report, err := s.Reader.Overview(ctx)
		if err != nil {
			return frame{}, err
		}
		body := s.newTeam(namespace, report)
		body.Requests, err = s.requests(ctx, func(j job) bool { return open(j) && j.Request.Namespace() == namespace })
		return frame{Title: "Team " + namespace, Store: report.Store, At: report.At, Refresh: true, Body: body}, err
	})
}

func (s *site) newTeam(namespace string, r reconcile.StatusReport) team {
	r.SpotPools = nil
	r.Budgets = slices.DeleteFunc(slices.Clone(r.Budgets), func(b budgets.Description) bool { return !covers(b, namespace) })
	r.StockPools = slices.DeleteFunc(slices.Clone(r.StockPools), func(p stockpools.Description) bool { return p.Namespace != namespace })
	details := s.Words.Details(r)
	t := team{Namespace: namespace}
	for _, b := range r.Budgets {
		l := budgetList([]budgets.Description{b})
		l.Rows[0].Details = details[l.Rows[0].Object]
		of := teamBudget{row: l.Rows[0], Description: b, Columns: l.Columns}
		if b.UsageReport != nil && len(b.ByNamespace) > 1 {
			of.Here = b.ByNamespace[namespace]
		}
		t.Budgets = append(t.Budgets, of)
	}
	for _, l := range allLists(reconcile.StatusReport{StockPools: r.StockPools}) {
		l = l.paged("", nil)
		for n := range l.Rows {
			if l.Rows[n].Rank < state.Calm {
				l.Rows[n].Details = details[l.Rows[n].Object]
			}
		}
		t.Lists = append(t.Lists, l)
	}
	return t
}

// covers reports whether a budget counts pods of a namespace, as it declares or as it measured.
func covers(b budgets.Description, namespace string) bool {
	if b.UsageReport != nil && b.ByNamespace[namespace] != "" {
		return true
	}
	return b.Selector != nil && slices.Contains(b.Selector.Namespaces, namespace)
}
