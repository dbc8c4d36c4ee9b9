package cli

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/clitest"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// fieldsOf lists the paths of a type's JSON, such as spot_pools[].name, and those
// of the types that it holds.
func fieldsOf(of reflect.Type, prefix string) (paths []string) {
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of.Kind() == reflect.Slice:
		return fieldsOf(of.Elem(), strings.TrimSuffix(prefix, ".")+"[].")
	case of == reflect.TypeFor[outcome.Result](): // it writes itself
		paths = append(fieldsOf(reflect.TypeFor[spotpool.Decision](), prefix), fieldsOf(reflect.TypeFor[budget.Decision](), prefix)...)
		paths = append(paths, fieldsOf(reflect.TypeFor[stockpool.Decision](), prefix)...)
		paths = append(paths, prefix+"outcome", prefix+"error")
		return append(paths, fieldsOf(reflect.TypeFor[outcome.ErrorReport](), prefix+"error.")...)
	case of.Kind() != reflect.Struct || of.PkgPath() == "time":
		return nil
	}
	for n := range of.NumField() {
		field := of.Field(n)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case name == "" && field.Anonymous:
			paths = append(paths, fieldsOf(field.Type, prefix)...)
		case name != "":
			paths = append(paths, prefix+name)
			paths = append(paths, fieldsOf(field.Type, prefix+name+".")...)
		}
	}
	return paths
}

var quoted = regexp.MustCompile("`([^`]+)`")

// documented reads the fields out of a page's tables. A first cell names fields,
// and those behind the first of a cell may leave its prefix out; a second cell
// may name the fields that the first one's has in it.
func documented(text string) map[string]bool {
	known := map[string]bool{}
	for line := range strings.Lines(text) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 2 || !strings.HasPrefix(cells[0], "| `") {
			continue
		}
		prefix := ""
		for _, name := range quoted.FindAllStringSubmatch(cells[0], -1) {
			path := name[1]
			if at := strings.LastIndex(strings.TrimSuffix(path, "[]"), "."); at >= 0 {
				prefix = path[:at+1]
			} else {
				path = prefix + path
			}
			known[path] = true
			known[strings.TrimSuffix(path, "[]")] = true
			for _, inner := range quoted.FindAllStringSubmatch(cells[1], -1) {
				known[path+"."+inner[1]] = true
			}
		}
	}
	return known
}

// TestReferenceHasEveryField compares the tables of the reference with what is
// printed as JSON.
func TestReferenceHasEveryField(t *testing.T) {
	t.Parallel()
	run, told := clitest.Guide(t, "json-reconcile.md"), clitest.Section(t, clitest.Guide(t, "json-history.md"), "## Events")
	looks, _, found := strings.Cut(clitest.Guide(t, "json-status.md"), "\n## wait\n")
	if !found {
		t.Fatal("the page about status has no section about wait")
	}
	events := map[string]bool{}
	for field := range documented(told) {
		events["events[]."+field] = true
	}
	for name, tt := range map[string]struct {
		text   string
		prints []reflect.Type
	}{
		"reconcile": {run, []reflect.Type{reflect.TypeFor[reconcile.Report]()}},
		"status":    {run + looks, []reflect.Type{reflect.TypeFor[reconcile.StatusReport]()}},
		"explain":   {run + looks, []reflect.Type{reflect.TypeFor[reconcile.Explanation]()}},
		"usage": {
			clitest.Guide(t, "json-usage.md"), []reflect.Type{
				reflect.TypeFor[usage.Report](), reflect.TypeFor[usage.LiveReport](), reflect.TypeFor[usage.ReplayReport](),
			},
		},
		"history": {told, []reflect.Type{reflect.TypeFor[history.Event]()}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			known, fields := documented(tt.text), 0
			for _, printed := range tt.prints {
				for _, path := range fieldsOf(printed, "") {
					fields++
					// What a run would do is written down once, with what a run did.
					path = strings.Replace(path, "spot_pools[].decisions[].", "decisions[].", 1)
					path = strings.Replace(path, "budgets[].decisions[].", "decisions[].", 1)
					path = strings.Replace(path, "stock_pools[].decisions[].", "decisions[].", 1)
					if !known[path] && !events[path] {
						t.Errorf("the reference does not tell of %s", path)
					}
				}
			}
			if fields < 20 {
				t.Errorf("only %d fields were looked for", fields)
			}
		})
	}
}

// TestReferenceHasEveryCode compares the table of codes with those that there are.
func TestReferenceHasEveryCode(t *testing.T) {
	t.Parallel()
	var told []spotpool.Code
	for line := range strings.Lines(clitest.Section(t, clitest.Guide(t, "json-reconcile.md"), "## Codes")) {
		if code, _, found := strings.Cut(strings.TrimPrefix(line, "| `"), "` | "); found && strings.HasPrefix(line, "| `") {
			told = append(told, spotpool.Code(code))
		}
	}
	if diff := cmp.Diff(spotpool.Codes(), told); diff != "" {
		t.Errorf("the codes in the reference (-there are +told):\n%s", diff)
	}
}
