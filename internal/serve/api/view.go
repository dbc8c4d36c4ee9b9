package api

import (
	"context"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// view is what one user may read.
type view struct {
	user    *access.User
	all     bool // of all kinds and namespaces
	budgets map[string]seenBudget
	objects map[string][]string // all declared ones, by their names without region or namespace
	known   map[string]bool     // answers, by object
}

type seenBudget struct {
	uid      string
	selector *budget.Selector
}

func (a *api) view(ctx context.Context) (*view, error) {
	v := &view{user: access.UserOf(ctx), known: map[string]bool{}, budgets: map[string]seenBudget{}, objects: map[string][]string{}}
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
	declared, err := a.Source.Declared(ctx)
	for _, object := range declared {
		v.objects[path.Base(object)] = append(v.objects[path.Base(object)], object)
	}
	return v, err
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

// words match what can be the name of an object.
var words = regexp.MustCompile(`[-\p{L}\p{N}]+`)

// names matches what stands before the name of an object.
var names = regexp.MustCompile(`(?:[/"'` + "`" + `]|\b(?:pools?|budgets?|explain|history|usage|hold|release) )$`)

// seesText reports whether a text names only objects that the user may read. A word that is the
// name of several objects names them all. An ordinary word is a name only after a word for one. Anyone
// can take an ordinary word as a name, and would hide texts of others.
func (v *view) seesText(ctx context.Context, text string) (bool, error) {
	for _, at := range words.FindAllStringIndex(text, -1) {
		word := text[at[0]:at[1]]
		if !strings.ContainsAny(word, "-0123456789") && !names.MatchString(text[max(0, at[0]-16):at[0]]) {
			continue
		}
		for _, object := range v.objects[word] {
			if sees, err := v.sees(ctx, object); err != nil || !sees {
				return false, err
			}
		}
	}
	return true, nil
}
