package page

import (
	"context"
	"maps"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// view is the page for one user. A tenant does not see the whole installation, and gets no commands, which are for operators.
type view struct {
	Options
	tenant bool
}

// view returns the page for the user of a request.
func (s *site) view(ctx context.Context) (view, error) {
	all, err := access.UserOf(ctx).SeesAll(ctx)
	return view{s.Options, !all}, err
}

// details returns the lines about each object, by object, and those that several objects share.
func (v view) details(r reconcile.StatusReport) (own map[string][]string, shared []Section) {
	own = map[string][]string{}
	for _, s := range v.Words.Details(r, v.tenant) {
		if len(s.Objects) > 1 {
			shared = append(shared, s)
			continue
		}
		own[s.Objects[0]] = append(own[s.Objects[0]], s.Lines...)
	}
	return own, shared
}

// why is why something was done or failed, and what to do about it.
type why struct {
	Why    []string
	Remedy string
}

// why returns why something was done, or the error.
func (v view) why(reasons reason.Reasons, failed *history.Error) (w why) {
	switch {
	case failed != nil:
		w.Why, w.Remedy = []string{failed.Message}, failed.Remedy
	case v.tenant:
		w.Why = reason.Renderer{}.Texts(reasons)
	default:
		w.Why = reasons.Texts()
	}
	if v.tenant {
		w.Remedy = ""
	}
	return w
}

// event is an event of the history for the user.
type event struct {
	history.Event
	why
}

// newestFirst returns events, the newest first.
func (v view) newestFirst(list []history.Event) []event {
	events := make([]event, len(list))
	for n, e := range list {
		events[len(list)-1-n] = event{e, v.why(e.Reasons, e.Error)}
	}
	return events
}

// limit is a budget that limits pods of a namespace, and that the user may not read.
type limit struct {
	Namespace string
	States    []state.State
}

// limits returns the budgets that the user may not read, and that limit pods of namespaces.
func (v view) limits(ctx context.Context, namespaces ...string) (list []limit, err error) {
	for _, namespace := range namespaces {
		found, err := v.Reader.Limits(ctx, namespace)
		if err != nil {
			return nil, err
		}
		for _, states := range found {
			list = append(list, limit{namespace, states})
		}
	}
	return list, nil
}

// namespaces are those of all budgets and stock pools.
func namespaces(r reconcile.StatusReport) []string {
	names := map[string]bool{}
	for _, b := range r.Budgets {
		for _, name := range teams(b) {
			names[name] = true
		}
	}
	for _, p := range r.StockPools {
		names[p.Namespace] = true
	}
	return slices.Sorted(maps.Keys(names))
}
