package page

import (
	"context"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// events are those that a person asked for.
type events struct {
	Name, Text, Kind, Since string
	Kinds                   []history.Kind
	Periods                 []period
	Events                  []history.Event
	Limit                   int
	Lost                    []string
}

type period struct{ Value, Text string }

// listedAtMost is the most events of the history on one page.
const listedAtMost = 500

var periods = []period{{"1h", "the last hour"}, {"24h", "the last day"}, {"7d", "the last 7 days"}, {"35d", "the last 35 days"}}

func (s *site) history(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	e := events{
		Name: strings.TrimSpace(q.Get("name")), Text: strings.TrimSpace(q.Get("text")),
		Kind: q.Get("kind"), Since: q.Get("since"), Kinds: history.Kinds(), Periods: periods, Limit: listedAtMost,
	}
	if e.Since == "" {
		e.Since = "24h"
	}
	s.show(w, r, "history", func(ctx context.Context) (frame, error) {
		asked := EventQuery{Kind: e.Kind, Since: e.Since, Limit: listedAtMost}
		if e.Name != "" {
			asked.Objects = []string{e.Name}
		}
		if e.Text != "" {
			asked.Limit = chartedAtMost
		}
		found, err := s.Reader.Events(ctx, asked)
		e.Events, e.Lost = newestFirst(found.Events), found.Lost
		if e.Text != "" {
			e.Events = slices.DeleteFunc(e.Events, func(event history.Event) bool { return !mentions(event, e.Text) })
			e.Events = e.Events[:min(len(e.Events), listedAtMost)]
		}
		return frame{Title: "History", Store: found.Store, At: found.Until, Body: e}, err
	})
}

// mentions reports whether an event has a text, such as the name of a pod.
func mentions(e history.Event, text string) bool {
	has := func(part string) bool { return strings.Contains(strings.ToLower(part), strings.ToLower(text)) }
	return has(e.Object) || has(e.Actor) || has(e.Node) || slices.ContainsFunc(e.Subjects(), has) || slices.ContainsFunc(e.Reasons, has) ||
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
