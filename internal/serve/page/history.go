package page

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// events are those that a person asked for.
type events struct {
	Name, Text, Kind, Since string
	Kinds                   []history.Kind
	Periods                 []period
	Events                  []event
	Page                    int
	Newer, Older            string // the addresses of other pages; empty if there is none
	Cut                     bool   // older events have no page
	Lost                    []string
	Tenant                  bool
}

type period struct{ Value, Text string }

// listedAtMost is the most events of the history on one page.
const listedAtMost = 50

var periods = []period{{"1h", "the last hour"}, {"24h", "the last day"}, {"7d", "the last 7 days"}, {"35d", "the last 35 days"}}

func (s *site) history(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	e := events{
		Name: strings.TrimSpace(q.Get("name")), Text: strings.TrimSpace(q.Get("text")),
		Kind: q.Get("kind"), Since: q.Get("since"), Kinds: history.Kinds(), Periods: periods, Page: 1,
	}
	if page, err := strconv.Atoi(q.Get("page")); err == nil {
		e.Page = min(max(1, page), chartedAtMost/listedAtMost)
	}
	if e.Since == "" {
		e.Since = "24h"
	}
	s.show(w, r, "history", func(ctx context.Context, v view) (frame, error) {
		asked := EventQuery{Name: e.Name, Kind: e.Kind, Since: e.Since, Limit: min(e.Page*listedAtMost+1, chartedAtMost)}
		if e.Text != "" {
			asked.Limit = chartedAtMost
		}
		found, err := v.Reader.Events(ctx, asked)
		all := v.newestFirst(found.Events)
		if e.Text != "" {
			all = slices.DeleteFunc(all, func(of event) bool { return !mentions(of, e.Text) })
		}
		e.Lost, e.Tenant = found.Lost.Texts(), v.tenant
		e.Cut = len(found.Events) == chartedAtMost && len(all) <= e.Page*listedAtMost
		e.list(all, q)
		return frame{Title: "History", Store: found.Store, At: found.Until, Body: e}, err
	})
}

// list lists the events of one page.
func (e *events) list(all []event, asked url.Values) {
	first := min((e.Page-1)*listedAtMost, len(all))
	next := min(first+listedAtMost, len(all))
	link := func(page int) string {
		to := maps.Clone(asked)
		to.Set("page", strconv.Itoa(page))
		return "/history?" + to.Encode()
	}
	e.Events = all[first:next]
	if e.Page > 1 {
		e.Newer = link(e.Page - 1)
	}
	if next < len(all) {
		e.Older = link(e.Page + 1)
	}
}

// mentions reports whether an event has a text, such as the name of a pod.
func mentions(e event, text string) bool {
	has := func(part string) bool { return strings.Contains(strings.ToLower(part), strings.ToLower(text)) }
	return has(e.Object) || has(e.Actor) || has(e.Node) || slices.ContainsFunc(e.Subjects(), has) || slices.ContainsFunc(e.Why, has)
}

// query encodes keys and values.
func query(pairs ...string) string {
	values := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		values.Set(pairs[n], pairs[n+1])
	}
	return values.Encode()
}
