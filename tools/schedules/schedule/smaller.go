package schedule

import (
	"reflect"
	"slices"
	"strings"
)

// Smaller returns schedules that each lack one thing of this one: a round, a process, a kill, a
// fault, a reclaim, or another optional field. Those that lack most come first.
func (s Schedule) Smaller() (list []Schedule) {
	for _, rounds := range smaller(reflect.ValueOf(s.Rounds)) {
		if rounds.Len() > 0 {
			list = append(list, Schedule{Rounds: rounds.Interface().([]Round)})
		}
	}
	return list
}

func smaller(v reflect.Value) (list []reflect.Value) {
	with := func(change func(reflect.Value)) {
		copied := reflect.New(v.Type()).Elem()
		copied.Set(v)
		change(copied)
		list = append(list, copied)
	}
	switch {
	case v.Kind() == reflect.Slice:
		for n := range v.Len() {
			with(func(c reflect.Value) { c.Set(reflect.AppendSlice(v.Slice3(0, n, n), v.Slice(n+1, v.Len()))) })
		}
		for n := range v.Len() {
			for _, element := range smaller(v.Index(n)) {
				with(func(c reflect.Value) {
					c.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v))
					c.Index(n).Set(element)
				})
			}
		}
	case slices.Contains([]reflect.Type{reflect.TypeFor[Round](), reflect.TypeFor[Weather](), reflect.TypeFor[Process]()}, v.Type()):
		for n := range v.NumField() {
			if omits := strings.Contains(v.Type().Field(n).Tag.Get("json"), ",omit"); omits && !v.Field(n).IsZero() && v.Field(n).Kind() != reflect.Slice {
				with(func(c reflect.Value) { c.Field(n).SetZero() })
			}
			for _, field := range smaller(v.Field(n)) {
				with(func(c reflect.Value) { c.Field(n).Set(field) })
			}
		}
	}
	return list
}

// Shrink drops one thing after another of a failing schedule, if it fails without it, too.
func (s Schedule) Shrink(fails func(Schedule) bool) Schedule {
	list := s.Smaller()
	for n := 0; n < len(list); {
		if !fails(list[n]) {
			n++
			continue
		}
		s = list[n]
		list = s.Smaller()
	}
	return s
}
