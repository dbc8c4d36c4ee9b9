package decide_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// Documents read back as they were written.
func TestDocumentsReadBackAsWritten(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		s.Journal = decide.Decide(s).Journal
		readsBack(t, s.Declaration)
		readsBack(t, s.Observation)
		readsBack(t, s.Journal)
	})
}

func readsBack[T any](t *rapid.T, value T) {
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	var again T
	if err := json.Unmarshal(data, &again); err != nil {
		t.Fatalf("%v in %s", err, data)
	}
	// Offers that are there and none are not the same as no offers; the rest is.
	if diff := cmp.Diff(value, again, cmpopts.EquateEmpty()); diff != "" {
		t.Fatalf("%s reads back as (-want +got):\n%s", data, diff)
	}
}

// That nothing is sold is not the same as that the market is unknown.
func TestNoOffersAreNotUnknownOffers(t *testing.T) {
	t.Parallel()
	o := spotpool.Observation{Offers: []spotpool.Offer{}}
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	var again spotpool.Observation
	if err := json.Unmarshal(data, &again); err != nil || again.Offers == nil {
		t.Errorf("%s reads back as %#v, %v", data, again.Offers, err)
	}
}

func TestNoDecisionShowsUserData(t *testing.T) {
	t.Parallel()
	d := pool(func(d *spotpool.Declaration) { d.UserData = "password=hunter2" })
	p := decide.Decide(opened(seen(d), 1))
	var log bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&log, nil))
	for _, decision := range p.Decisions {
		logger.Info("decided", "decision", decision)
		data, err := json.Marshal(decision)
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range []string{string(data), decision.String(), fmt.Sprintf("%v", decision), fmt.Sprintf("%+v", decision), log.String()} {
			if strings.Contains(text, "hunter2") {
				t.Errorf("a decision shows user data: %s", text)
			}
		}
	}
	if !strings.Contains(log.String(), `"availability_zone":"ap-singapore-2"`) {
		t.Errorf("the log lacks the zone: %s", log.String())
	}
}

func TestADecisionAsJSON(t *testing.T) {
	t.Parallel()
	p := decide.Decide(seen(pool(size(1, 1)), instance("ins-1"), instance("ins-2", inState(spotpool.StateStopped))))
	data, err := json.Marshal(p.Decisions)
	if err != nil {
		t.Fatal(err)
	}
	want := `[{"kind":"terminate","object":"spot_pool/ap-singapore/train","count":1,"instance_ids":["ins-2"],` +
		`"reasons":[{"code":"above_maximum","args":{"maximum":1,"total":2},"text":"total 2 is above maximum 1"},` +
		`{"code":"chosen","args":{"instances":[{"code":"chosen_instance","args":{"facts":[` +
		`{"code":"of_offering","args":{"charge_type":"spot","offering":"GN7.2XLARGE32 in ap-singapore-2"}},` +
		`{"code":"in_condition","args":{"condition":"stopped"}},{"code":"costs","args":{"price":{"amount":"2.00","currency":"CNY"}}},` +
		`{"code":"launched_at","args":{"at":"2026-03-01T11:00:00Z"}}],"instance":"ins-2"}}]},` +
		`"text":"chosen: ins-2 (spot GN7.2XLARGE32 in ap-singapore-2, stopped, 2.00 CNY an hour, launched 2026-03-01T11:00:00Z)"}]}]`
	if string(data) != want {
		t.Errorf("got  %s\nwant %s", data, want)
	}
}

func TestCloudErrorsSayWhatToDo(t *testing.T) {
	t.Parallel()
	err := &spotpool.CloudError{
		Action: "RunInstances", Code: "LimitExceeded.UserSpotQuota", Message: "The quota is used up.",
		Remedy: reason.RaiseQuota(), RequestID: "0d8a",
	}
	want := "RunInstances: LimitExceeded.UserSpotQuota: The quota is used up. " +
		"Request a higher quota at https://console.cloud.tencent.com/workorder, or lower maximum. (RequestId 0d8a)"
	if err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if found, ok := spotpool.AsCloudError(fmt.Errorf("launching: %w", err)); !ok || found != err {
		t.Error("a wrapped error is not found")
	}
	if _, ok := spotpool.AsCloudError(errors.New("other")); ok {
		t.Error("another error is found")
	}
}
