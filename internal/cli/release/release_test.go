package release

import (
	"testing"
)

// TestReleasedReplacing reports a suspension that ends, with or without a hold.
func TestReleasedReplacing(t *testing.T) {
	t.Parallel()
	r := report{Object: "spot_pool/ap-singapore/train", ReplacingSuspended: "2 instances in a row failed before they had worked for an hour"}
	const want = "released spot_pool/ap-singapore/train: its instances are replaced again; this was suspended: 2 instances " +
		"in a row failed before they had worked for an hour\n" +
		"the next run reconciles it again\n"
	if got := text(r); got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}
