package store

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
)

// A mark refuses every use, and names the other store. One that can't be read is never
// taken for none.
func TestMarksRefuse(t *testing.T) {
	t.Parallel()
	here, there := Location{Backend: Directory, Path: "/a"}, Location{Backend: Kubernetes, Namespace: "b"}
	for want, m := range map[string]Mark{
		"the store directory:/a was moved to kubernetes:b: use that one":              MovedTo(there),
		"is being moved to kubernetes:b: wait":                                        MovingTo(there),
		"is being moved here from kubernetes:b: wait":                                 MovingFrom(there),
		"run gpupool store move directory:/a kubernetes:b again":                      MovingTo(there),
		"If it was interrupted, run gpupool store move kubernetes:b directory:/a aga": MovingFrom(there),
	} {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		again, err := DecodeMark(data, "move.json")
		if err != nil || again != m {
			t.Errorf("%s is read as %+v (%v)", data, again, err)
		}
		var moved *MovedError
		if err := again.Refuses(here); !errors.As(err, &moved) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", data, err, want)
		}
	}
	if err := (Mark{}).Refuses(here); err != nil {
		t.Errorf("no mark: %v", err)
	}
	for data, want := range map[string]error{
		"": ErrDamagedStore, "{}": ErrDamagedStore, `{"version":1}`: ErrDamagedStore, `{"version":1,"to":"a","from":"b"}`: ErrDamagedStore,
		`{"version":2,"to":"a"}`: ErrNewerStore,
	} {
		if m, err := DecodeMark([]byte(data), "move.json"); !errors.Is(err, want) {
			t.Errorf("%q: %+v, %v", data, m, err)
		}
	}
}

func FuzzDecodeMark(f *testing.F) {
	f.Add([]byte(`{"version":1,"to":"directory:/a","done":true}`))
	f.Add([]byte(`{"version":2}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		if data == nil {
			return
		}
		if m, err := DecodeMark(data, "move.json"); err == nil && m.Refuses(Location{}) == nil {
			t.Errorf("%q is taken for no mark", data)
		}
	})
}
