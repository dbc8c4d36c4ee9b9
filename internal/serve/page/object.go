package page

import (
	"context"
	"net/http"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
)

// object is the page of one object.
type object struct {
	row
	Columns     []string
	Explanation string
	Chart       *chart
	Users       *usage.Report
	Events      []history.Event
	HistoryLink string
}

// The most events on the page of an object, and in its chart.
const (
	eventsAtMost  = 50
	chartedAtMost = 10_000
)

// object returns the handler of the pages of a kind. Names of the kind begin with a part of the path.
func (s *site) object(kind, prefix string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		of := kind + "/" + r.PathValue("name")
		if prefix != "" {
			of = kind + "/" + r.PathValue(prefix) + "/" + r.PathValue("name")
		}
		s.show(w, r, "object", func(ctx context.Context) (frame, error) {
			x, err := s.Reader.Explain(ctx, of)
			if err != nil {
				return frame{}, err
			}
			o, err := s.newObject(ctx, of, x)
			return frame{Title: of, Store: x.Store, At: x.At, Body: o}, err
		})
	}
}

func (s *site) newObject(ctx context.Context, of string, x reconcile.Explanation) (object, error) {
	o := object{Explanation: s.Words.Explanation(x), HistoryLink: "/history?" + query("name", of, "since", "35d")}
	status, err := s.Reader.Overview(ctx)
	if err != nil {
		return o, err
	}
	one := only(status, func(object string) bool { return object == of })
	for _, l := range allLists(one) {
		o.row, o.Columns = l.Rows[0], l.Columns
		o.Details = s.Words.Details(one)[of]
	}
	recent, err := s.Reader.Events(ctx, EventQuery{Object: of, Since: "35d", Limit: chartedAtMost})
	if err != nil {
		return o, err
	}
	all := newestFirst(recent.Events)
	o.Events = all[:min(len(all), eventsAtMost)]
	if len(x.SpotPools) > 0 && x.SpotPools[0].Observed {
		o.Chart = sizes(x.SpotPools[0], all, x.At)
	}
	if name, is := strings.CutPrefix(of, "budget/"); is && len(x.Budgets) > 0 && x.Budgets[0].UsageReport != nil {
		o.Chart = lastDay(of, status, all)
		users, err := s.Reader.BudgetUsage(ctx, name)
		if err != nil {
			return o, err
		}
		o.Users = &users
	}
	return o, nil
}
