package api

import (
	"context"
	"reflect"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// hidden stands for a text that names an object that the user may not read.
const hidden = "(hidden: it names an object that you may not read)"

// visible returns a copy of a response without the parts about objects that the user may not read.
// These are texts that name them, their events, and covers by their budgets.
func visible[T any](ctx context.Context, v *view, response T) (T, error) {
	if v.all {
		return response, nil
	}
	h := hiding{ctx: ctx, view: v}
	h.value(reflect.ValueOf(&response).Elem())
	return response, h.err
}

type hiding struct {
	ctx  context.Context //nolint:containedctx // lives for one response
	view *view
	err  error
}

// renderer writes reasons for the user.
func (h *hiding) renderer() reason.Renderer {
	return reason.Renderer{
		Sees:      func(o reason.Object) bool { return h.ask(h.view.sees(h.ctx, string(o))) },
		Namespace: func(name string) bool { return h.ask(h.view.user.Allows(h.ctx, access.Get, access.Budgets, name)) },
	}
}

// hides reports whether a text is hidden. A text without spaces is a name or a code.
func (h *hiding) hides(text string) bool {
	return strings.Contains(text, " ") && !h.ask(h.view.seesText(h.ctx, text))
}

func (h *hiding) ask(sees bool, err error) bool {
	if err != nil {
		h.err = err
	}
	return sees
}

// value replaces what a value refers to by copies, and hides texts in them.
func (h *hiding) value(of reflect.Value) {
	switch of.Kind() {
	case reflect.String:
		if h.hides(of.String()) {
			of.SetString(hidden)
		}
	case reflect.Pointer:
		if !of.IsNil() {
			copied := reflect.New(of.Type().Elem())
			copied.Elem().Set(of.Elem())
			h.value(copied.Elem())
			of.Set(copied)
		}
	case reflect.Struct:
		if said, is := of.Interface().(reason.Reason); is {
			of.Set(reflect.ValueOf(h.renderer().Redact(said)))
			return
		}
		if b, is := of.Addr().Interface().(*budgets.Description); is && b.Superseded { // it may count pods of other namespaces
			b.Observed, b.UsageReport, b.Effects, b.Paused, b.PausedLeftOut = false, nil, nil, nil, 0
		}
		switch of.Interface().(type) {
		case spotpools.Declared, budgets.Declared, stockpools.Declared: // the user declared it, or may read it as a whole
			return
		}
		for n := range of.NumField() {
			if of.Type().Field(n).IsExported() || of.Type().Field(n).Anonymous && of.Field(n).CanSet() {
				h.value(of.Field(n))
			}
		}
	case reflect.Slice:
		if !of.IsNil() {
			h.list(of)
		}
	case reflect.Interface:
		if !of.IsNil() {
			copied := reflect.New(of.Elem().Type())
			copied.Elem().Set(of.Elem())
			h.value(copied.Elem())
			of.Set(copied.Elem())
		}
	}
}

func (h *hiding) list(of reflect.Value) {
	switch list := of.Interface().(type) {
	case []history.Event:
		of.Set(reflect.ValueOf(slices.DeleteFunc(slices.Clone(list), func(e history.Event) bool { return !h.ask(h.view.seesEvent(h.ctx, &e)) })))
	case []decide.Cover:
		of.Set(reflect.ValueOf(slices.DeleteFunc(slices.Clone(list), func(c decide.Cover) bool { return !h.ask(h.view.sees(h.ctx, "budget/"+c.Budget)) })))
	case []budget.PausedWorkload:
		of.Set(reflect.ValueOf(slices.DeleteFunc(slices.Clone(list), func(p budget.PausedWorkload) bool {
			return !h.ask(h.view.user.Allows(h.ctx, access.Get, access.Budgets, p.Namespace))
		})))
	case []string:
		of.Set(reflect.ValueOf(slices.DeleteFunc(slices.Clone(list), h.hides)))
		return
	default:
		copied := reflect.MakeSlice(of.Type(), of.Len(), of.Len())
		reflect.Copy(copied, of)
		of.Set(copied)
	}
	for n := range of.Len() {
		h.value(of.Index(n))
	}
}
