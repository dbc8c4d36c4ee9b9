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
	Events                  []history.Event
	Page                    int
	Newer, Older            string // the addresses of other pages; empty if there is none
	Cut                     bool   // older events have no page
	Lost                    []string
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
	s.show(w, r, "history", func(ctx context.Context) (frame, error) {
		asked := EventQuery{Name: e.Name, Kind: e.Kind, Since: e.Since, Limit: min(e.Page*listedAtMost+1, chartedAtMost)}
		if e.Text != "" {
			asked.Limit = chartedAtMost
		}
		found, err := s.Reader.Events(ctx, asked)
		all := newestFirst(found.Events)
		if e.Text != "" {
			all = slices.DeleteFunc(all, func(event history.Event) bool { return !mentions(event, e.Text) })
		}
		e.Lost, e.Cut = found.Lost.Texts(), len(found.Events) == chartedAtMost && len(all) <= e.Page*listedAtMost
		e.list(all, q)
		return frame{Title: "History", Store: found.Store, At: found.Until, Body: e}, err
	})
}

// list lists the events of one page.
func (e *events) list(all []history.Event, asked url.Values) {
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
func mentions(e history.Event, text string) bool {
	has := func(part string) bool { return strings.Contains(strings.ToLower(part), strings.ToLower(text)) }
	return has(e.Object) || has(e.Actor) || has(e.Node) || slices.ContainsFunc(e.Subjects(), has) || slices.ContainsFunc(e.Reasons.Texts(), has) ||
		e.Error != nil && has(e.Error.Message)
}

func newestFirst(list []history.Event) []history.Event {
	list = slices.Clone(list)
	slices.Reverse(list)
	return list
}

// query encodes keys and values.
func query(pairs ...string) string {
	values := url.Values{}
	for n := 0; n+1 < len(pairs); n += 2 {
		values.Set(pairs[n], pairs[n+1])
	}
	return values.Encode()
}
