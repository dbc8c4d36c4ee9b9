package stockpool

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

// Standing is one pod of a pool, and what it counts as.
type Standing struct {
	Pod      string   `json:"pod"`
	Node     string   `json:"node,omitempty"`
	CountsAs CountsAs `json:"counts_as"`
	Why      string   `json:"why,omitempty"`
}

// CountsAs is what a pod counts as.
type CountsAs string

// What a pod may count as. All but nothing is one of the pool's replicas.
const (
	CountsAvailable CountsAs = "available"
	CountsInUse     CountsAs = "in use"
	CountsReplica   CountsAs = "replica"
	CountsNothing   CountsAs = "nothing"
)

// Standings are a pool's pods, by their names. There are none of a Deployment that is not
// the pool's own.
func Standings(s Situation) []Standing {
	d := newDecider(s)
	list := []Standing{}
	if !d.own() {
		return list
	}
	for _, p := range s.Seen.Pods {
		counts, why := d.standing(p)
		list = append(list, Standing{Pod: p.Name, Node: p.Node, CountsAs: counts, Why: why})
	}
	slices.SortFunc(list, func(a, b Standing) int { return strings.Compare(a.Pod, b.Pod) })
	return list
}

func (d *decider) standing(p Pod) (counts CountsAs, why string) {
	switch {
	case p.Ending:
		return CountsNothing, "it is being deleted"
	case p.Ended():
		return CountsNothing, "it has ended: " + p.Phase
	case d.allocated(p):
		return CountsInUse, "allocated_selector selects it"
	case p.Ready:
		return CountsAvailable, "it is ready, and not in use"
	case p.Unschedulable != "":
		return CountsReplica, "it waits for a node"
	case p.Waiting != "":
		return CountsReplica, p.Waiting
	case p.Node == "":
		return CountsReplica, "it has no node yet"
	}
	return CountsReplica, "it is not ready yet"
}

// Writer is who last wrote some fields of a pool's Deployment.
type Writer struct {
	Manager     string    `json:"manager"`
	Subresource string    `json:"subresource,omitempty"` // "scale"
	At          time.Time `json:"at,omitzero"`
	Fields      []string  `json:"fields"` // "spec.replicas"; what is in lists is not named
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
