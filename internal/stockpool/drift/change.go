package drift

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Changes returns the fields in which a Deployment differs from what an application would make
// of it. Values of environment variables, arguments and commands are omitted: they may be
// secret.
func Changes(was, wants *appsv1.Deployment) []stockpool.Change {
	var list []stockpool.Change
	differ("metadata.labels", plain(was.Labels), plain(wants.Labels), &list)
	differ("spec", plain(was.Spec), plain(wants.Spec), &list)
	return list
}

func plain(value any) any {
	text, err := json.Marshal(value)
	var out any
	if err != nil || json.Unmarshal(text, &out) != nil {
		return nil
	}
	return out
}

func differ(at string, was, wants any, list *[]stockpool.Change) {
	a, mapA := was.(map[string]any)
	b, mapB := wants.(map[string]any)
	if mapA && mapB {
		keys := maps.Clone(a)
		maps.Copy(keys, b)
		for _, key := range slices.Sorted(maps.Keys(keys)) {
			differ(at+"."+key, a[key], b[key], list)
		}
		return
	}
	x, listA := was.([]any)
	y, listB := wants.([]any)
	if listA && listB && len(x) == len(y) {
		for n := range x {
			differ(fmt.Sprintf("%s[%d]", at, n), x[n], y[n], list)
		}
		return
	}
	if !reflect.DeepEqual(was, wants) {
		*list = append(*list, stockpool.Change{Field: at, Was: shown(at, was), Wants: shown(at, wants)})
	}
}

// secretive are the parts of a container whose values are not reported.
var secretive = []string{".env", ".args", ".command"}

func shown(at string, value any) string {
	if value == nil {
		return "nothing"
	}
	for _, part := range secretive {
		if strings.Contains(at, part) {
			return "another"
		}
	}
	text, err := json.Marshal(value)
	if err != nil || len(text) > 120 {
		return "another"
	}
	return strings.Trim(string(text), `"`)
}

// ChangedBy returns the managers that last wrote some of the changed fields, and through which
// subresource.
func ChangedBy(of *appsv1.Deployment, changes []stockpool.Change) []string {
	var names []string
	for w, fields := range writers(of) {
		changed := func(c stockpool.Change) bool { return manages(fields, strings.Split(c.Field, ".")) }
		if w.Manager == stockpool.FieldManager || !slices.ContainsFunc(changes, changed) {
			continue
		}
		name := w.String()
		if !w.At.IsZero() {
			name += " at " + w.At.Format("2006-01-02T15:04:05Z")
		}
		names = append(names, name)
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// manages reports whether managed fields contain a field, or something in it. It does not
// follow list members: a manager of the list manages them. The last step may contain dots, as
// annotation names do.
func manages(fields map[string]any, way []string) bool {
	for n, step := range way {
		name, _, member := strings.Cut(step, "[")
		below, has := fields["f:"+name].(map[string]any)
		if _, dotted := fields["f:"+strings.Join(way[n:], ".")]; dotted {
			return true
		}
		if !has {
			return false
		}
		if fields = below; member {
			return true
		}
	}
	return true
}
