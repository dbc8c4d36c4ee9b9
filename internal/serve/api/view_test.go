package api

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

var update = flag.Bool("update", false, "write the list of shown texts")

// tenant sees the objects and the namespace that are called own.
var tenant = reason.Renderer{
	Sees:      func(o reason.Object) bool { return strings.HasSuffix(string(o), "/own") },
	Namespace: func(name string) bool { return name == "own" },
}

// TestPausedWorkloadsOfOtherNamespacesAreHidden: a budget whose selector was narrowed can still have paused them.
func TestPausedWorkloadsOfOtherNamespacesAreHidden(t *testing.T) {
	t.Parallel()
	list := []budget.PausedWorkload{{Workload: budget.Workload{Namespace: "web"}}, {Workload: budget.Workload{Namespace: "own"}}}
	got := budgets.Report{Paused: list}.For(tenant)
	if len(got.Paused) != 1 || got.Paused[0].Namespace != "own" || list[0].Namespace != "web" {
		t.Errorf("it shows %+v", got.Paused)
	}
	old := budgets.Description{Superseded: true, Report: budgets.Report{Paused: list}}.For(tenant)
	if len(old.Paused) > 0 {
		t.Errorf("after a change of its selector, it shows %+v", old.Paused)
	}
}

// TestTextsThatATenantSees finds each text of each response that a reader of one namespace gets unchanged. A new one is
// either a fact of their own object, and in the list, or it is redacted.
func TestTextsThatATenantSees(t *testing.T) {
	t.Parallel()
	x := filled[reconcile.Explanation]()
	own := func(names ...*string) {
		for _, name := range names {
			*name = "own"
		}
	}
	own(&x.Budgets[0].Name, &x.StockPools[0].Name, &x.SpotPools[0].Name)
	x.StockPools[0].Namespace, x.SpotPools[0].Region = "own", "own"
	s := reconcile.StatusReport{SpotPools: x.SpotPools, Budgets: x.Budgets, StockPools: x.StockPools, Warnings: reason.Reasons{hiddenReason}}
	seen := reason.Renderer{Namespace: tenant.Namespace, Sees: func(o reason.Object) bool {
		return tenant.Sees(o) || slices.Contains([]reason.Object{"spot_pool/own/own", "stock_pool/own/own"}, o)
	}}
	shown := map[string]bool{}
	for _, response := range []any{
		x.For(seen), s.For(seen), filled[eventlog.Report]().For(seen), filled[usage.Report]().For(seen), filled[request.Job]().For(seen, "own"),
		filled[reconcile.StatusReport]().For(seen).LastRun,
	} {
		data, err := json.Marshal(response)
		if at := strings.Index(string(data), "hidden-"); err != nil || at >= 0 {
			t.Errorf("%T shows what is hidden, or is unreadable (%v): %s", response, err, data[max(0, at-300):min(len(data), at+100)])
		}
		for _, match := range textOf.FindAllStringSubmatch(string(data), -1) {
			shown[match[1]] = true
		}
	}
	const file = "testdata/shown.txt"
	text := strings.Join(slices.Sorted(maps.Keys(shown)), "\n") + "\n"
	if *update {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if want, err := os.ReadFile(file); err != nil || string(want) != text {
		t.Errorf("a tenant sees these texts as they are (%v): redact new ones, or write the list again with -update:\n%s", err, text)
	}
	if len(shown) == 0 {
		t.Error("nothing was shown")
	}
}

var textOf = regexp.MustCompile(`"text of ([A-Za-z.]+)"`)

// filled returns a value of which each text names its field.
func filled[T any]() T {
	var of T
	fill(reflect.ValueOf(&of).Elem(), "", 0)
	return of
}

var hiddenReason = reason.BudgetUnknown("budget/hidden-budget", "hidden-text")

func fill(v reflect.Value, path string, depth int) {
	switch of := v.Addr().Interface().(type) {
	case *reason.Reason:
		*of = hiddenReason
		return
	case *time.Time:
		*of = time.Unix(1_800_000_000, 0)
		return
	case *outcome.Decision:
		d := filled[budget.Decision]()
		*of = d
		return
	case *history.Kind:
		*of = history.Evict
		return
	}
	if depth > 12 {
		return
	}
	switch v.Kind() {
	case reflect.String:
		if v.Type() == reflect.TypeFor[string]() {
			v.SetString("text of " + path)
		}
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), path, depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(v.Index(0), path, depth+1)
	case reflect.Struct:
		for n := range v.NumField() {
			if f := v.Type().Field(n); f.IsExported() {
				fill(v.Field(n), v.Type().String()+"."+f.Name, depth+1)
			}
		}
	}
}

// TestErrorsOfTheStoreAreForReadersOfEverything, since they have paths and addresses.
func TestErrorsOfTheStoreAreForReadersOfEverything(t *testing.T) {
	t.Parallel()
	failed := errors.New("open /var/lib/gpupool: permission denied")
	for rights, shown := range map[access.Rights]bool{rightsIn("ml"): false, rightsIn(""): true} {
		ctx := access.WithUser(t.Context(), &access.User{Rights: rights})
		if err := problemOf(ctx, failed); strings.Contains(err.Error(), "/var/lib") != shown {
			t.Errorf("with rights in %q: %v", rights, err)
		}
	}
}

// rightsIn has the rights of a user of one namespace, or of all.
type rightsIn string

func (r rightsIn) Allow(_ context.Context, q access.Question) (bool, error) {
	return r == "" || q.Namespace == string(r), nil
}
