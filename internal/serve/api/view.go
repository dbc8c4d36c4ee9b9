package api

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// view is what one user may read.
type view struct {
	user    *access.User
	all     bool // of all kinds and namespaces
	budgets map[string]seenBudget
	known   map[string]bool // answers, by object
	err     error           // of a question that the reader asked
}

type seenBudget struct {
	uid      string
	selector *budget.Selector
}

func (a *api) view(ctx context.Context) (*view, error) {
	v := &view{user: access.UserOf(ctx), known: map[string]bool{}, budgets: map[string]seenBudget{}}
	var err error
	if v.all, err = a.seesAll(ctx); err != nil || v.all {
		return v, err
	}
	r, err := a.Source.Status(ctx, snapshot.Budgets)
	if err != nil {
		return nil, err
	}
	for _, b := range r.Budgets {
		v.budgets[b.Name] = seenBudget{b.UID, b.Selector}
	}
	return v, nil
}

// reader is the user as a reader of reasons. What could not be asked is not seen, and the view has the error.
func (v *view) reader(ctx context.Context) reason.Renderer {
	if v.all {
		return reason.Renderer{}
	}
	ask := func(sees bool, err error) bool {
		v.err = cmp.Or(v.err, err)
		return sees && err == nil
	}
	return reason.Renderer{
		Sees:      func(o reason.Object) bool { return ask(v.sees(ctx, string(o))) },
		Namespace: func(name string) bool { return ask(v.user.Allows(ctx, access.Get, access.Budgets, name)) },
	}
}

// visible returns a response as the user may read it.
func visible[T interface {
	For(reader reason.Renderer) T
}](ctx context.Context, v *view, response T) (T, error) {
	if v.all {
		return response, nil
	}
	seen := response.For(v.reader(ctx))
	return seen, v.err
}

// sees reports whether the user may read an object.
func (v *view) sees(ctx context.Context, object string) (bool, error) {
	if v.all {
		return true, nil
	}
	if sees, asked := v.known[object]; asked {
		return sees, nil
	}
	sees, err := v.ask(ctx, object)
	if err == nil {
		v.known[object] = sees
	}
	return sees, err
}

func (v *view) ask(ctx context.Context, object string) (bool, error) {
	kind, name, _ := strings.Cut(object, "/")
	switch snapshot.Kind(kind) {
	case snapshot.SpotPools:
		return v.user.Allows(ctx, access.Get, access.SpotPools, "")
	case snapshot.StockPools:
		namespace, _, _ := strings.Cut(name, "/")
		return v.user.Allows(ctx, access.Get, access.StockPools, namespace)
	case snapshot.Budgets:
		return v.user.SeesBudget(ctx, v.budgets[name].selector)
	}
	return false, nil
}

// seesEvent reports whether the user may read an event. Events of an earlier budget of the same name may be of
// other namespaces. So may those from before the selector of a budget was narrowed.
func (v *view) seesEvent(ctx context.Context, e *history.Event) (bool, error) {
	if v.all {
		return true, nil
	}
	name, of := strings.CutPrefix(e.Object, "budget/")
	if of && e.ObjectUID != v.budgets[name].uid {
		return v.user.Allows(ctx, access.Get, access.Budgets, "")
	}
	if sees, err := v.sees(ctx, e.Object); !of || !sees || err != nil {
		return sees, err
	}
	for _, subject := range slices.Concat(e.Pods, e.Workloads) {
		if sees, err := v.user.Allows(ctx, access.Get, access.Budgets, subject.Namespace); !sees || err != nil {
			return false, err
		}
	}
	return true, nil
}
