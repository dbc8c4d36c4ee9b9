package cvmsim

import (
	"maps"
	"reflect"
	"slices"
)

// Retag changes a tag, and Find lists by one filter, without the way over
// HTTP.
func (s *Server) Retag(id, key, value string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.world.changeTags(s.world.instances[id], s.now(), []Tag{{key, value}}, nil)
}

func (s *Server) Find(region, name string, values ...string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var ids []string
	for _, in := range s.world.query(region, []filter{{name: name, values: values}}) {
		ids = append(ids, in.ID)
	}
	return ids
}

// Rate is the limit of an action in calls a second.
func Rate(action string) float64 { return actions[action].rate }

// JSONNames are the names of a struct's fields in JSON, FaultKinds the kinds of
// faults.
func JSONNames(v any) []string {
	return slices.Collect(maps.Keys(structFields(reflect.TypeOf(v))))
}

// Actions are the actions by name, with the services that they belong to.
func Actions() map[string]string {
	services := map[string]string{}
	for name, a := range actions {
		services[name] = a.service
	}
	return services
}

func FaultKinds() []string { return faultKinds }
