package history

import "testing"

// A long name leaves room for what happened.
func TestLongNamesAreCutInTheMiddle(t *testing.T) {
	t.Parallel()
	l := layout{region: "ap-singapore", longest: 20}
	for object, want := range map[string]string{
		"spot_pool/ap-singapore/train":                                      "train",
		"spot_pool/ap-singapore/training-of-the-large-language-models-blue": "training-o…dels-blue",
		"budget/team-a": "team-a",
	} {
		if got := l.called(object); got != want {
			t.Errorf("%s is called %q, not %q", object, got, want)
		}
	}
}
