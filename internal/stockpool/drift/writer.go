package drift

import (
	"cmp"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
)

// Writer is a manager that last wrote some fields of a pool's Deployment.
type Writer struct {
	// The field manager.
	Manager string `json:"manager"`
	// The subresource, such as `scale`.
	Subresource string `json:"subresource,omitempty"`
	// When it wrote.
	At time.Time `json:"at,omitzero"`
	// The fields, such as `spec.replicas`. Elements of lists are not listed.
	Fields []string `json:"fields"`
}

// String names the writer for people.
func (w Writer) String() string {
	if w.Subresource != "" {
		return w.Manager + " (" + w.Subresource + ")"
	}
	return w.Manager
}

// Writers returns the managers of a Deployment's fields, the latest first. It omits its status.
func Writers(of *appsv1.Deployment) []Writer {
	list := []Writer{}
	if of == nil {
		return list
	}
	for w, fields := range writers(of) {
		w.Fields = fieldPaths(fields, "")
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b Writer) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Manager, b.Manager)) })
	return list
}

// writers yields the managers of a Deployment's fields in its order, without fields, and the
// managed fields of each.
func writers(of *appsv1.Deployment) iter.Seq2[Writer, map[string]any] {
	return func(yield func(Writer, map[string]any) bool) {
		for _, entry := range of.ManagedFields {
			var fields map[string]any
			if entry.FieldsV1 == nil || entry.Subresource == "status" || json.Unmarshal(entry.FieldsV1.GetRawBytes(), &fields) != nil {
				continue
			}
			w := Writer{Manager: entry.Manager, Subresource: entry.Subresource}
			if entry.Time != nil {
				w.At = entry.Time.UTC()
			}
			if !yield(w, fields) {
				return
			}
		}
	}
}

// named returns the paths of managed fields that are not members of lists.
func fieldPaths(fields map[string]any, at string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name, field := strings.CutPrefix(key, "f:")
		below, _ := fields[key].(map[string]any)
		switch {
		case !field:
		case !slices.ContainsFunc(slices.Collect(maps.Keys(below)), func(k string) bool { return strings.HasPrefix(k, "f:") }):
			list = append(list, at+name)
		default:
			list = append(list, fieldPaths(below, at+name+".")...)
		}
	}
	return list
}
