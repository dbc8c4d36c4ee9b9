package spotpool

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	core "github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	pending "github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

var previews = cmp.AllowUnexported(preview{})

var (
	noon   = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	market = core.Market{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32", ChargeType: core.Spot}
	train  = core.Declaration{
		Name: "train", Region: "ap-singapore", UID: "u1", AccountID: "1", Generation: 3, Minimum: 2, Maximum: 4,
		Offerings:     []core.Offering{{AvailabilityZone: market.AvailabilityZone, InstanceType: market.InstanceType, SubnetID: "subnet-a1b2c3d4"}},
		Configuration: core.Configuration{VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", UserData: "the user's secret"},
	}.WithDefaults()
)

// lookedAt is a pool with so many running instances.
func lookedAt(d core.Declaration, running int) spotpools.State {
	o := core.Observation{
		At: noon, Region: d.Region, AccountID: d.AccountID,
		Offers:    []core.Offer{{Market: market, Price: 1_900_000, Stock: core.StockEnough, VCPUs: 8}},
		SpotVCPUs: map[string]int{market.AvailabilityZone: 800},
	}
	for n := range running {
		o.Instances = append(o.Instances, core.Instance{
			ID: "ins-0000000" + string(rune('a'+n)), Region: d.Region, AccountID: d.AccountID, PoolUID: d.UID, PoolName: d.Name, SeqTag: 1,
			ConfigurationTag: core.ConfigurationTag(d.Configuration, d.Offerings[0], core.Spot),
			AvailabilityZone: market.AvailabilityZone, InstanceType: market.InstanceType, ChargeType: core.Spot,
			State: core.StateRunning, LaunchedAt: noon.Add(-time.Hour), PrivateIP: "10.0.0.1",
		})
	}
	plan := decide.Decide(decide.Situation{Declaration: d, Observation: o, Journal: journal.Journal{}.Salted("salt"), Now: noon})
	return spotpools.State{Declaration: d, Recorded: true, Observation: o, Journal: plan.Journal, Plan: plan}
}

// The stored observation leads to the same decisions as the original, for any pool.
func TestKeptObservationDecidesAlike(t *testing.T) {
	t.Parallel()
	for running := range 6 {
		state := lookedAt(train, running)
		s := newPrivateState(state, valuesOf(imported(train)))
		data, err := s.encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := decodePrivateState(data)
		if err != nil {
			t.Fatal(err)
		}
		want := previewOf(state.Plan, "")
		if diff := cmp.Diff(want, previewUpdate(train, train, again), previews, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("with %d running, the plan differs from what was seen:\n%s", running, diff)
		}
	}
}

// Private state is in the state file, so user data must not be in it twice.
func TestKeptObservationHasNoUserData(t *testing.T) {
	t.Parallel()
	state := lookedAt(train, 1)
	request := core.Request{
		Region: train.Region, Pool: train.Name, UID: train.UID, Sequence: 2, Count: 1, Offering: train.Offerings[0], Configuration: train.Configuration,
	}
	state.Journal = state.Journal.Open(pending.Launch{Request: request.Joining("abcdef", "s3cr3t0fth3t0k3n"), WrittenAt: noon})
	s := newPrivateState(state, valuesOf(imported(train)))
	data, err := s.encode()
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(data, []byte(train.UserData)) || bytes.Contains(data, []byte("s3cr3t0fth3t0k3n")) {
		t.Errorf("user data is in the private state: %s", data)
	}
	if len(state.Journal.Pending) != 1 || state.Journal.Pending[0].Request.UserData == "" {
		t.Error("keeping the observation changed what was seen")
	}
}

func TestObservationOfAnotherVersionIsRefused(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{`{"version":2}`: "version 2", `{"version":`: "damaged", `[]`: "damaged"} {
		if _, err := decodePrivateState([]byte(data)); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "-refresh-only") {
			t.Errorf("%s: %v", data, err)
		}
	}
	if s, err := decodePrivateState(nil); s != nil || err != nil {
		t.Errorf("nothing kept: %v, %v", s, err)
	}
}

func FuzzDecodePrivateState(f *testing.F) {
	s := newPrivateState(lookedAt(train, 2), valuesOf(imported(train)))
	data, err := s.encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(data)
	f.Add([]byte(`{"version":1,"instances":[{"instance_id":"ins-1"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := decodePrivateState(data)
		if err != nil || s == nil {
			return
		}
		// Whatever stands there, a plan over it is made, and twice the same.
		a, b := previewUpdate(train, train, s), previewUpdate(train, train, s)
		if diff := cmp.Diff(a, b, previews, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("two plans of one observation differ:\n%s", diff)
		}
	})
}

// An offering that is new was not looked at: the plan launches all the same, and
// leaves where to the apply.
func TestNewOfferingCanBePlanned(t *testing.T) {
	t.Parallel()
	d := train
	d.Offerings = []core.Offering{{AvailabilityZone: "ap-singapore-3", InstanceType: "PNV4.7XLARGE116", SubnetID: "subnet-e5f6a7b8"}}
	d.MaxHourlyCost = 1
	s := newPrivateState(lookedAt(train, 1), valuesOf(imported(train)))
	p := previewUpdate(train, d, &s)
	if len(p.actions) != 1 || p.actions[0] != "launch 1 spot instance: capacity 1 is below minimum 2; the offering is chosen at apply" {
		t.Errorf("planned %q, warned %q", p.actions, p.warnings)
	}
}

// A closed gate is kept, too.
func TestBudgetHoldsThePlanBack(t *testing.T) {
	t.Parallel()
	state := lookedAt(train, 1)
	state.Gate = core.Gate{Closed: true, Reason: reason.OtherVersion("its budget is exceeded")}
	s := newPrivateState(state, valuesOf(imported(train)))
	p := previewUpdate(train, train, &s)
	if len(p.actions) != 0 || len(p.warnings) > 0 || !strings.Contains(p.short.String(), "its budget is exceeded") {
		t.Errorf("planned %q, warned %q of %q", p.actions, p.warnings, p.short)
	}
}

func TestPreviewOfANewPool(t *testing.T) {
	t.Parallel()
	d := train
	d.UID, d.AccountID, d.Minimum, d.Maximum = "", "", 60, 60
	d.MaxHourlyCost = 1 // prices are the apply's
	d.OnDemandFallback = &core.OnDemandFallback{After: d.Cooldown, Maximum: 1}
	p := previewCreate(d)
	if len(p.actions) != 1 || !strings.HasPrefix(p.actions[0], "launch 50 spot instances: ") {
		t.Errorf("planned %q", p.actions)
	}
	if text := p.short.String(); !strings.Contains(text, "max_launches_per_run") || strings.Contains(text, "1970") {
		t.Errorf("warned %q", text)
	}
}
