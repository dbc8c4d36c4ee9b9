package store

import (
	"encoding/json"
	"fmt"
)

const (
	layoutKind    = "gpupool store"
	layoutVersion = 1
)

// layout says what a place is, and how a store is laid out there.
type layout struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
}

// Layout is what stands in a place to say that it is a store, in JSON.
func Layout() []byte {
	data, err := json.Marshal(layout{Kind: layoutKind, Version: layoutVersion})
	if err != nil {
		panic(err) // two constants
	}
	return data
}

// MakeAnew is what to do about a place that has documents, and nothing that makes
// it a store.
func MakeAnew(s fmt.Stringer) string {
	return fmt.Sprintf("gpupool store repair --store %s makes it a store again, and changes no document", s)
}

// CheckLayout judges what stands in a place that the store was expected in, as
// read from where. The remedy is against damage.
func CheckLayout(data []byte, s fmt.Stringer, where, remedy string) error {
	var l layout
	if err := json.Unmarshal(data, &l); err != nil || l.Kind != layoutKind || l.Version < 1 {
		return fmt.Errorf("%w: %s does not describe a store; %s", ErrDamagedStore, where, remedy)
	}
	if l.Version > layoutVersion {
		return fmt.Errorf("the store %s is %w (its layout is version %d, this gpupool knows version %d): upgrade gpupool", s, ErrNewerStore, l.Version, layoutVersion)
	}
	return nil
}
