package history

import "testing"

// A name can be pasted into another command, so it is never cut.
func TestNamesAreNotCut(t *testing.T) {
	t.Parallel()
	l := layout{region: "ap-singapore"}
	for object, want := range map[string]string{
		"spot_pool/ap-singapore/train":                                      "spot_pool/train",
		"spot_pool/ap-singapore/training-of-the-large-language-models-blue": "spot_pool/training-of-the-large-language-models-blue",
		"budget/team-a": "budget/team-a", "stock_pool/ml/g1": "stock_pool/ml/g1", "run": "run",
	} {
		if got := l.nameOf(object); got != want {
			t.Errorf("name of %s: %q, want %q", object, got, want)
		}
	}
}
