package describe

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Price is a price without its currency, or a dash if it is unknown.
func Price(p spotpool.Price) string {
	if p == 0 {
		return "-"
	}
	return p.String()
}

// Plural counts things: no pods, 1 pod, 2 pods, 2 launches.
func Plural(n int, thing string) string {
	if n == 0 {
		return "no " + thing + "s"
	}
	return wording.Count(n, thing)
}

// inOneWord is the plural of each kind.
var inOneWord = map[string]string{"spot_pool": "pools", "budget": "budgets", "stock_pool": "stock pools"}

// Declarations is the common plural of declarations.
func Declarations(list []outcome.Summary) string {
	if len(list) == 0 {
		return "pools"
	}
	kind := list[0].Kind
	for _, s := range list {
		if s.Kind != kind {
			return "declarations"
		}
	}
	return cmp.Or(inOneWord[kind], "declarations")
}

// Declaration is an object as an argument of commands. A pool needs no kind.
func Declaration(s outcome.Summary) string {
	if s.Kind == "spot_pool" {
		return s.Name
	}
	return s.Object()
}

// FirstOf lists the first few, and counts the others.
func FirstOf(list []string, most int) string {
	if more := len(list) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:most], ", "), more)
	}
	return strings.Join(list, ", ")
}

// LastRuns is the number of runs that failed, and the time of the first.
func LastRuns(clock terminal.Clock, f declaration.Failing) string {
	if f.Runs == 1 {
		return "the last run, " + clock.When(f.LastAt)
	}
	return fmt.Sprintf("the last %d runs, since %s", f.Runs, clock.At(f.Since))
}
