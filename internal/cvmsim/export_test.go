package cvmsim

import (
	"maps"
	"reflect"
	"slices"
)

// Retag changes a tag, and Find lists by one filter, without the way over
// HTTP.
func (s *Server) Retag(id, key, value string) {
	_ = s.keeper.Change(func(w *world) error {
		w.changeTags(w.instance(id), w.now(), []Tag{{key, value}}, nil)
		return nil
	})
}

func (s *Server) Find(region, name string, values ...string) []string {
	var ids []string
	s.keeper.Look(func(w *world) {
		for _, in := range w.query(region, []filter{{name: name, values: values}}) {
			ids = append(ids, in.ID)
		}
	})
	return ids
}

// Rate is the limit of an action in calls a second.
func Rate(action string) float64 { return allActions()[action].rate }

func allActions() map[string]*action {
	return byName(slices.Concat(cvmActions(), tagActions(), stsActions()))
}

// JSONNames are the names of a struct's fields in JSON, FaultKinds the kinds of
// faults.
func JSONNames(v any) []string {
	return slices.Collect(maps.Keys(structFields(reflect.TypeOf(v))))
}

// Actions are the actions by name, with the services that they belong to.
func Actions() map[string]string {
	services := map[string]string{}
	for name, a := range allActions() {
		services[name] = a.service
	}
	return services
}

func FaultKinds() []string { return faultKinds }
