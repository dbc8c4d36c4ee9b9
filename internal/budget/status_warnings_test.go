package budget

import (
	"encoding/json"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestTextsOfEarlierVersionsAreRead: statuses were stored with plain texts before they had codes.
func TestTextsOfEarlierVersionsAreRead(t *testing.T) {
	t.Parallel()
	var s Status
	err := json.Unmarshal([]byte(`{"name":"team-a","withheld":"part of the ledger is lost","warnings":["1 pod waits for 1 GPU: ml/a"],
		"unknown":{"consumed":1,"reason":"the ledger is new"},"effects":[{"measure":"pause","reason":"it has no owner","pods":["ml/a"]}]}`), &s)
	if err != nil {
		t.Fatal(err)
	}
	for want, got := range map[string]reason.Reason{
		"part of the ledger is lost": s.Withheld, "1 pod waits for 1 GPU: ml/a": s.Warnings[0], "the ledger is new": s.Unknown.Reason,
		"it has no owner": s.Effects[0].Reason,
	} {
		if got.String() != want || got.Code != reason.OtherVersion("").Code {
			t.Errorf("%+v is read, want %q", got, want)
		}
	}
	if data, err := json.Marshal(Status{Effects: []Effect{{Measure: Freeze}}}); err != nil || json.Unmarshal(data, &s) != nil {
		t.Errorf("%s is not read: %v", data, err)
	}
	if s = (Status{}); json.Unmarshal([]byte(`{}`), &s) != nil || !s.Withheld.IsZero() {
		t.Errorf("a status without a reason has %v", s.Withheld)
	}
}
