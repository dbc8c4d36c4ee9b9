package api

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/danielgtaylor/huma/v2"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

func (a *api) addDetails() {
	get(a, "/explain/spot_pool/{region}/{name}", "explainSpotPool", "Inputs and reasons of the decisions about a spot pool",
		func(ctx context.Context, in *InRegion) (reconcile.Explanation, error) {
			if all, err := access.UserOf(ctx).Allows(ctx, access.Get, access.SpotPools, ""); err != nil || !all {
				return reconcile.Explanation{}, orForbidden(err)
			}
			return a.explain(ctx, "spot_pool/"+in.Region+"/"+in.Name)
		})
	get(a, "/explain/budget/{name}", "explainBudget", "Inputs and reasons of the decisions about a budget",
		func(ctx context.Context, in *Named) (reconcile.Explanation, error) {
			return a.explain(ctx, "budget/"+in.Name)
		})
	get(a, "/explain/stock_pool/{namespace}/{name}", "explainStockPool", "Inputs and reasons of the decisions about a stock pool",
		func(ctx context.Context, in *InNamespace) (reconcile.Explanation, error) {
			return a.explain(ctx, "stock_pool/"+in.Namespace+"/"+in.Name)
		})
	get(a, "/usage", "getUsage", "GPU-hours of a budget, or of the pods of namespaces, as gpupool usage -o json prints them", a.usage)
	get(a, "/history", "listEvents", "Events, as gpupool history -o json prints them", a.history)
}

// viewOf returns what the user may read. The error says that they may not read an object, or that
// it does not exist.
func (a *api) viewOf(ctx context.Context, object string) (*view, error) {
	v, err := a.view(ctx) // first, so that an absent object takes as long as another's
	if err != nil {
		return nil, err
	}
	declared, err := a.Source.Declared(ctx)
	if err == nil && !slices.Contains(declared, object) {
		err = notFound(object)
	}
	if err != nil {
		return nil, err
	}
	sees, err := v.sees(ctx, object)
	if err == nil && !sees {
		err = notFound(object)
	}
	return v, err
}

// explain explains an object if the user may read it.
func (a *api) explain(ctx context.Context, object string) (reconcile.Explanation, error) {
	v, err := a.viewOf(ctx, object)
	if err != nil {
		return reconcile.Explanation{}, err
	}
	x, err := a.Source.Explain(ctx, v.user.Name, object)
	if err != nil {
		return x, err
	}
	// A name may match several objects, such as those of a namespace that has the name of a kind.
	x.SpotPools = slices.DeleteFunc(slices.Clone(x.SpotPools), func(p spotpools.Description) bool { return p.Summary().Object() != object })
	x.Budgets = slices.DeleteFunc(slices.Clone(x.Budgets), func(b budgets.Description) bool { return b.Summary().Object() != object })
	x.StockPools = slices.DeleteFunc(slices.Clone(x.StockPools), func(p stockpools.Description) bool { return p.Summary().Object() != object })
	x.Events, err = filter(x.Events, func(e history.Event) (bool, error) { return v.seesEvent(ctx, &e) })
	if err != nil {
		return reconcile.Explanation{}, err
	}
	return visible(ctx, v, x)
}

// usageQuestion selects pods and their grouping.
type usageQuestion struct {
	Budget    string   `query:"budget" doc:"A budget. It has its own window, namespaces and limit." example:"team-a" maxLength:"63"`
	Namespace []string `query:"namespace,explode" doc:"Only pods in these namespaces. If omitted, all, which needs the right for all namespaces." maxItems:"50"`
	Window    string   `query:"window" doc:"The length of the window, such as 24h or 7d. Default: that of the budget, or 24h." maxLength:"20"`
	By        string   `query:"by" doc:"The grouping: pod, namespace, owner or label:KEY." default:"pod" maxLength:"330"`
	Sort      string   `query:"sort" doc:"The order." enum:"gpu-hours,name,start"`
	Top       int      `query:"top" doc:"List only the first entries. Totals include all." minimum:"0" maximum:"100000"`
}

func (a *api) usage(ctx context.Context, in *usageQuestion) (usage.Report, error) {
	listing, err := usage.GroupBy(in.By)
	if err != nil {
		return usage.Report{}, huma.Error422UnprocessableEntity("by: " + err.Error())
	}
	listing.Sort, listing.Top = in.Sort, in.Top
	if listing.Grouped() && listing.Sort == usage.SortStart {
		return usage.Report{}, huma.Error422UnprocessableEntity("sort: start needs by=pod")
	}
	if in.Window != "" {
		if _, err := budget.ParseWindow(in.Window); err != nil {
			return usage.Report{}, huma.Error422UnprocessableEntity("window: " + err.Error())
		}
	}
	slices.Sort(in.Namespace)
	in.Namespace = slices.Compact(in.Namespace) // before the question has them
	q, v, err := a.question(ctx, in)
	if err != nil {
		return usage.Report{}, err
	}
	key := strings.Join(append([]string{in.Budget, in.Window}, in.Namespace...), "\x00")
	live, err := a.Source.Usage(ctx, v.user.Name, key, q)
	if err != nil {
		return usage.Report{}, err
	}
	return visible(ctx, v, usage.NewReport(live, listing.WithDefaults()))
}

// question checks that the user may read the usage, and returns what else they may read.
func (a *api) question(ctx context.Context, in *usageQuestion) (q budgets.Question, v *view, err error) {
	if in.Budget != "" {
		if len(in.Namespace) > 0 {
			return q, nil, huma.Error422UnprocessableEntity("namespace cannot be combined with a budget, which has its own")
		}
		v, err = a.viewOf(ctx, "budget/"+in.Budget)
		return budgets.Question{Budget: in.Budget, Over: budgets.Over{Window: in.Window}}, v, err
	}
	d := budget.Declaration{Window: cmp.Or(in.Window, "24h")}
	d.Selector.Namespaces = in.Namespace
	for _, namespace := range in.Namespace {
		if problems := validation.IsDNS1123Label(namespace); len(problems) > 0 {
			text := fmt.Sprintf("namespace: invalid namespace %q: %s", namespace, strings.Join(problems, "; "))
			return q, nil, huma.Error422UnprocessableEntity(text)
		}
		if sees, err := access.UserOf(ctx).Allows(ctx, access.Get, access.Budgets, namespace); err != nil || !sees {
			return q, nil, orForbidden(err)
		}
	}
	if len(in.Namespace) == 0 {
		if sees, err := access.UserOf(ctx).Allows(ctx, access.Get, access.Budgets, ""); err != nil || !sees {
			return q, nil, orForbidden(err)
		}
	}
	v, err = a.view(ctx)
	return budgets.Question{Declaration: d.WithDefaults()}, v, err
}

// historyQuestion selects events.
type historyQuestion struct {
	Name  []string `query:"name,explode" doc:"Names or patterns of objects, such as team-a or budget/team-*. If omitted, all that you may read." maxItems:"50"`
	Kind  []string `query:"kind,explode" doc:"Only events of these kinds, such as launch,reclaim." maxItems:"100"`
	Since string   `query:"since" doc:"The first time: RFC 3339, or a duration before now." default:"24h" maxLength:"40"`
	Until string   `query:"until" doc:"The end, in the same form. If omitted, the newest event." maxLength:"40"`
	Limit int      `query:"limit" doc:"The most events. Of more, the newest are returned: use until for the others." default:"1000" minimum:"1" maximum:"10000"`
}

func (a *api) history(ctx context.Context, in *historyQuestion) (eventlog.Report, error) {
	return a.events(ctx, in, nil)
}

// events are those of a question. If objects are given, they are only those of these.
func (a *api) events(ctx context.Context, in *historyQuestion, objects []string) (eventlog.Report, error) {
	now := a.Source.Now()
	report := eventlog.Report{SchemaVersion: 1, Store: a.Source.Store(), Until: now.UTC(), Events: []history.Event{}, Lost: reason.Reasons{}}
	names := declaration.Names(in.Name)
	if err := names.Validate(); err != nil {
		return report, huma.Error422UnprocessableEntity("name: " + err.Error())
	}
	q := history.Query{Of: names.Fits}
	if len(objects) > 0 {
		exact := map[string]bool{}
		for _, object := range objects {
			exact[object] = true
		}
		q.Of = func(object string) bool { return exact[object] }
	}
	var err error
	if q.Since, err = moment("since", in.Since, now); err != nil {
		return report, err
	}
	if in.Until != "" {
		if q.Until, err = moment("until", in.Until, now); err != nil {
			return report, err
		}
		report.Until = q.Until.UTC()
	}
	report.Since = q.Since.UTC()
	for _, kind := range in.Kind {
		q.Kinds = append(q.Kinds, history.Kind(strings.TrimSpace(kind)))
	}
	if err := q.Validate(); err != nil {
		return report, huma.Error422UnprocessableEntity(err.Error())
	}
	v, err := a.view(ctx)
	if err != nil {
		return report, err
	}
	kept, err := a.Source.History(ctx, q, func(e *history.Event) error {
		sees, err := v.seesEvent(ctx, e)
		if err != nil || !sees {
			return err
		}
		if report.Events = append(report.Events, *e); len(report.Events) >= 2*in.Limit {
			report.Events = append([]history.Event{}, report.Events[len(report.Events)-in.Limit:]...)
		}
		return nil
	})
	if err != nil {
		return report, err
	}
	report.Events = report.Events[max(0, len(report.Events)-in.Limit):]
	report.KeptSince = kept.KeptSince
	report.Lost = append(report.Lost, kept.Lost...)
	return visible(ctx, v, report)
}

// moment parses a duration before now, or a time.
func moment(parameter, text string, now time.Time) (time.Time, error) {
	if length, err := duration.Parse(text); err == nil {
		return now.Add(-length), nil
	}
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return at, huma.NewError(http.StatusUnprocessableEntity, parameter+": use a duration such as 24h, or a time such as 2026-11-21T06:00:00Z")
	}
	return at, nil
}
