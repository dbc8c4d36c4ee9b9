package store

import (
	"encoding/json"
	"fmt"
)

const (
	layoutKind    = "gpupool store"
	layoutVersion = 1
)

type layout struct {
	Kind    string `json:"kind"`
	Version int    `json:"version"`
}

// Layout returns the JSON that describes a place as a store.
func Layout() []byte {
	data, err := json.Marshal(layout{Kind: layoutKind, Version: layoutVersion})
	if err != nil {
		panic(err) // two constants
	}
	return data
}

// RepairHint returns the remedy for a place that has documents and lost its description.
func RepairHint(s fmt.Stringer) string {
	return fmt.Sprintf("gpupool store repair --store %s makes it a store again, and changes no document", s)
}

// CheckLayout checks the description of a place, read from where. If the description is damaged,
// the error recommends the remedy.
func CheckLayout(data []byte, s fmt.Stringer, where, remedy string) error {
	var l layout
	if err := json.Unmarshal(data, &l); err != nil || l.Kind != layoutKind || l.Version < 1 {
		return fmt.Errorf("%w: %s does not describe a store; %s", ErrDamagedStore, where, remedy)
	}
	if l.Version > layoutVersion {
		return fmt.Errorf("the store %s is %w (its layout is version %d, this gpupool knows version %d): upgrade gpupool", s, ErrNewerStore, l.Version,
			layoutVersion)
	}
	return nil
}
