package page

import (
	"context"
	"net/http"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

// object is the page of one object.
type object struct {
	row
	Columns     []string
	Explanation string
	ExplainedAt time.Time // the moment of the dry run
	// DecisionsLink is the page of the explanation, if it is not here.
	DecisionsLink string
	Chart         *chart
	Teams         []string // the namespaces of a budget
	Users         *users
	Unread        string // why Users is nil
	Requests      requests
	Events        []event
	HistoryLink   string
}

// The most events on the page of an object, and in its chart.
const (
	eventsAtMost  = 25
	chartedAtMost = 10_000
)

// named returns the object of a request. Names of the kind begin with a part of the path.
func named(r *http.Request, kind, prefix string) string {
	if prefix == "" {
		return kind + "/" + r.PathValue("name")
	}
	return kind + "/" + r.PathValue(prefix) + "/" + r.PathValue("name")
}

// object returns the handler of the pages of a kind.
func (s *site) object(kind, prefix string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		of := named(r, kind, prefix)
		s.show(w, r, "object", func(ctx context.Context, v view) (frame, error) {
			status, err := v.Reader.Overview(ctx)
			if err != nil {
				return frame{}, err
			}
			o, err := v.newObject(ctx, of, status)
			o.DecisionsLink = o.Link + "/decisions"
			return frame{Title: of, Store: status.Store, At: status.At, Reloads: true, Chart: o.Chart != nil, Body: o}, err
		})
	}
}

// decisions returns the handler of the explanations of a kind. They observe, and so are not part of the
// page of an object.
func (s *site) decisions(kind, prefix string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		of := named(r, kind, prefix)
		s.show(w, r, "decisions", func(ctx context.Context, v view) (frame, error) {
			x, err := v.Reader.Explain(ctx, of)
			if err != nil {
				return frame{}, err
			}
			body := object{row: row{Object: of, Link: linkOf(of)}, Explanation: v.Words.Explanation(x, v.tenant), ExplainedAt: x.At}
			return frame{Title: "Decisions about " + of, Store: x.Store, At: x.At, Body: body}, nil
		})
	}
}

func (v view) newObject(ctx context.Context, of string, status reconcile.StatusReport) (o object, err error) {
	o.HistoryLink = "/history?" + query("name", of, "since", "35d")
	one := only(status, func(object string) bool { return object == of })
	lists := allLists(one)
	if len(lists) == 0 {
		return o, errNoObject{of}
	}
	o.row, o.Columns = lists[0].Rows[0], lists[0].Columns
	details, _ := v.details(one)
	o.Details = details[of]
	if o.Requests, err = v.requests(ctx, func(j job) bool { return j.Object == of }); err != nil {
		return o, err
	}
	recent, err := v.Reader.Events(ctx, EventQuery{Objects: []string{of}, Since: "35d", Limit: chartedAtMost})
	if err != nil {
		return o, err
	}
	all := v.newestFirst(recent.Events)
	o.Events = all[:min(len(all), eventsAtMost)]
	if len(one.SpotPools) > 0 && one.SpotPools[0].Counts != nil {
		o.Chart = sizes(one.SpotPools[0], all, status.At)
	}
	if len(one.Budgets) > 0 {
		o.Teams = teams(one.Budgets[0])
	}
	if len(one.Budgets) > 0 && one.Budgets[0].UsageReport != nil {
		o.addUsage(ctx, v, one.Budgets[0], all)
	}
	return o, nil
}

// addUsage adds the usage of a budget by owner and over time. The rest of the page does not need it.
func (o *object) addUsage(ctx context.Context, v view, b budgets.Description, events []event) {
	users, err := v.Reader.BudgetUsage(ctx, b)
	if err != nil {
		o.Unread = message(codeOf(err), err, v.tenant)
		return
	}
	o.Users, o.Chart = newUsers(users, events, ""), course(users, events)
}
