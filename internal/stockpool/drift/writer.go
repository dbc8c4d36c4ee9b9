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

// Writer is who last wrote some fields of a pool's Deployment.
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

// String is how people name the writer.
func (w Writer) String() string {
	if w.Subresource != "" {
		return w.Manager + " (" + w.Subresource + ")"
	}
	return w.Manager
}

// Writers are those who last wrote what is asked of a Deployment, the latest first: what
// they wrote of its status is left out.
func Writers(of *appsv1.Deployment) []Writer {
	list := []Writer{}
	if of == nil {
		return list
	}
	for w, fields := range writers(of) {
		w.Fields = named(fields, "")
		list = append(list, w)
	}
	slices.SortStableFunc(list, func(a, b Writer) int { return cmp.Or(b.At.Compare(a.At), cmp.Compare(a.Manager, b.Manager)) })
	return list
}

// writers are those who last wrote what is asked of a Deployment, in its order, without
// what they wrote; and that, as managed fields have it.
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

// named are the paths of managed fields, as far as these are not members of lists.
func named(fields map[string]any, at string) []string {
	var list []string
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		name, field := strings.CutPrefix(key, "f:")
		below, _ := fields[key].(map[string]any)
		switch {
		case !field:
		case !slices.ContainsFunc(slices.Collect(maps.Keys(below)), func(k string) bool { return strings.HasPrefix(k, "f:") }):
			list = append(list, at+name)
		default:
			list = append(list, named(below, at+name+".")...)
		}
	}
	return list
}
