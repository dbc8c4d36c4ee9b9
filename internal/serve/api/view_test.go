package api

import "testing"

// TestNamesInTextsAreFound where texts name objects. Names that are ordinary words hide no other text:
// any tenant can take such a name.
func TestNamesInTextsAreFound(t *testing.T) {
	t.Parallel()
	v := &view{
		objects: map[string][]string{
			"its": {"stock_pool/research/its"}, "train": {"spot_pool/ap-singapore/train"}, "team-b": {"budget/team-b"}, "mine-1": {"budget/mine-1"},
		},
		known: map[string]bool{"stock_pool/research/its": false, "spot_pool/ap-singapore/train": false, "budget/team-b": false, "budget/mine-1": true},
	}
	for text, want := range map[string]bool{
		"usage reaches its limit, and pods train":         true,
		"it is also counted by mine-1":                    true,
		"it is also counted by team-b":                    false,
		"blocked by budget/team-b":                        false,
		"the spot pool train fits, and does not grow":     false,
		`the store has "train"`:                           false,
		"gpupool explain train shows why":                 false,
		"see stock_pool/research/its for the reason":      false,
		"team-b's limit":                                  false,
		"the pods of ap-singapore/train are not counted.": false,
	} {
		if got, err := v.seesText(t.Context(), text); got != want || err != nil {
			t.Errorf("%q is shown: %v (%v)", text, got, err)
		}
	}
}
