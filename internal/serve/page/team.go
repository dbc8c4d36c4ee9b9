package page

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
)

// team is what the people of a namespace want to know: what is left, when it recovers, and why.
type team struct {
	Namespace string
	Budgets   []teamBudget // of one page
	Pager     list         // of the budgets
	Lists     []list
	Requests  requests
	Shared    []Section // failures of several objects
	Limits    []limit   // by budgets that the user may not read
	Stopped   []event   // the latest evictions and pauses
	Events    []event   // the latest others
	all       []event
}

type teamBudget struct {
	row
	budgets.Description
	Columns []string
	Users   *users // nil if they are on the page of the budget only
	// Here is the usage of this namespace, if the budget has others.
	Here string
	// Late says that the limit was expected to be reached before now, and that no run measured it since.
	Late bool
}

func (s *site) team(w http.ResponseWriter, r *http.Request) {
	namespace := r.PathValue("namespace")
	s.show(w, r, "team", func(ctx context.Context, v view) (frame, error) {
		report, err := v.Reader.Overview(ctx)
		if err != nil {
			return frame{}, err
		}
		report = ofTeam(report, namespace)
		body := v.newTeam(namespace, report, r.URL.Query())
		body.Requests, err = v.requests(ctx, func(j job) bool { return open(j) && j.Request.Namespace() == namespace })
		if err == nil {
			err = v.addEvents(ctx, &body, report)
		}
		if err == nil {
			body.Limits, err = v.limits(ctx, namespace)
		}
		complete := v.addUsers(ctx, body)
		return frame{Title: "Team " + namespace, Store: report.Store, At: report.At, Refresh: true, Old: !complete, Body: body}, err
	})
}

// teamRow is a namespace, and how many of the objects that the user may read are of it.
type teamRow struct {
	Namespace           string
	Budgets, StockPools int
}

// teams lists the namespaces of all budgets and stock pools.
func (s *site) teams(w http.ResponseWriter, r *http.Request) {
	s.show(w, r, "teams", func(ctx context.Context, v view) (frame, error) {
		report, err := v.Reader.Overview(ctx)
		var rows []teamRow
		for _, namespace := range namespaces(report) {
			of := ofTeam(report, namespace)
			rows = append(rows, teamRow{namespace, len(of.Budgets), len(of.StockPools)})
		}
		return frame{Title: "Teams", Store: report.Store, At: report.At, Body: rows}, err
	})
}

// The most budgets of a team page that have their usage by owner, and how long the page waits for it.
const (
	usersAtMost = 3
	usersWithin = 100 * time.Millisecond
)

// addUsers adds the usage of budgets by owner, and the pods of the namespace that ended. It reports whether it is
// complete: a new run has to be read first, and the page reloads soon.
func (v view) addUsers(ctx context.Context, t team) bool {
	ctx, cancel := context.WithTimeout(ctx, usersWithin)
	defer cancel()
	complete := true
	for n := range t.Budgets[:min(len(t.Budgets), usersAtMost)] {
		b := &t.Budgets[n]
		if b.UsageReport == nil || b.UsageReport.LimitGPUHours == nil {
			continue
		}
		used, err := v.Reader.BudgetUsage(ctx, b.Description)
		if err != nil {
			complete = false
			continue
		}
		b.Users = newUsers(used, t.all, t.Namespace)
	}
	return complete
}

// ofTeam returns the budgets that count pods of a namespace, and its stock pools.
func ofTeam(r reconcile.StatusReport, namespace string) reconcile.StatusReport {
	r.SpotPools, r.Notifications = nil, nil
	r.Budgets = slices.DeleteFunc(slices.Clone(r.Budgets), func(b budgets.Description) bool { return !Covers(b, namespace) })
	r.StockPools = slices.DeleteFunc(slices.Clone(r.StockPools), func(p stockpools.Description) bool { return p.Namespace != namespace })
	return r
}

// stops are the events about pods that a budget ended.
var stops = []history.Kind{history.Evict, history.Evicted, history.Pause, history.Paused}

// addEvents adds the events of the budgets and stock pools of a team in the last seven days.
func (v view) addEvents(ctx context.Context, t *team, r reconcile.StatusReport) error {
	q := EventQuery{Since: "7d", Limit: chartedAtMost}
	for _, of := range r.Declarations() {
		q.Objects = append(q.Objects, of.Object())
	}
	if len(q.Objects) == 0 {
		return nil
	}
	found, err := v.Reader.Events(ctx, q)
	t.all = v.newestFirst(found.Events)
	for _, e := range t.all {
		list := &t.Events
		if slices.Contains(stops, e.Kind) {
			list = &t.Stopped
		}
		if len(*list) < eventsAtMost {
			*list = append(*list, e)
		}
	}
	return err
}

// teamBudgetsAtMost is the most budgets on one page of a team.
const teamBudgetsAtMost = 10

// newTeam has one page of the budgets and of the stock pools of a team, those with trouble first.
func (v view) newTeam(namespace string, r reconcile.StatusReport, query url.Values) team {
	t := team{Namespace: namespace}
	path, detailed := link("teams", namespace), map[string]bool{}
	for _, l := range allLists(r) {
		most := rowsAtMost
		if l.Of == "budgets" {
			most = teamBudgetsAtMost
		}
		l = l.paged(path, "", query, most)
		for _, row := range l.Rows {
			detailed[row.Object] = row.Rank < state.Calm || l.Of == "budgets"
		}
		if l.Of == "budgets" {
			t.Pager = l
		} else {
			t.Lists = append(t.Lists, l)
		}
	}
	described := map[string]budgets.Description{}
	for _, b := range r.Budgets {
		described[b.Summary().Object()] = b
	}
	details, shared := view{v.Options, true}.details(only(r, func(object string) bool { return detailed[object] }))
	t.Shared = shared
	for _, row := range t.Pager.Rows {
		row.Details = details[row.Object]
		of := teamBudget{row: row, Description: described[row.Object], Columns: t.Pager.Columns}
		if of.UsageReport != nil && len(of.ByNamespace) > 1 {
			of.Here = of.ByNamespace[namespace]
		}
		of.Late = of.UsageReport != nil && of.ProjectedExhaustion != nil && !of.ProjectedExhaustion.After(r.At)
		t.Budgets = append(t.Budgets, of)
	}
	for _, l := range t.Lists {
		for n := range l.Rows {
			l.Rows[n].Details = details[l.Rows[n].Object]
		}
	}
	return t
}

// teams are the namespaces of a budget, as it declares or as it measured.
func teams(b budgets.Description) []string {
	names := map[string]bool{}
	if b.Selector != nil {
		for _, name := range b.Selector.Namespaces {
			names[name] = true
		}
	}
	if b.UsageReport != nil {
		for name := range b.ByNamespace {
			names[name] = name != budget.Others
		}
	}
	maps.DeleteFunc(names, func(_ string, is bool) bool { return !is })
	return slices.Sorted(maps.Keys(names))
}

// Covers reports whether a budget counts pods of a namespace, as it declares or as it measured.
func Covers(b budgets.Description, namespace string) bool {
	if b.UsageReport != nil && b.ByNamespace[namespace] != "" {
		return true
	}
	return b.Selector != nil && slices.Contains(b.Selector.Namespaces, namespace)
}
