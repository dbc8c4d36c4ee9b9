package decide_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
)

const (
	region  = "ap-singapore"
	zone2   = "ap-singapore-2"
	zone3   = "ap-singapore-3"
	zone4   = "ap-singapore-4"
	t4      = "GN7.2XLARGE32"
	a10     = "PNV4.7XLARGE116"
	account = "100012345678"
	uid     = "0123456789abcdef0123456789abcdef"
)

// salt is that of every journal of these tests.
const salt = "5a175a175a175a175a175a175a175a17"

var noon = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// ago is a time before noon.
func ago(d time.Duration) time.Time { return noon.Add(-d) }

// pool declares 2 to 4 T4 instances, in zone 2 before zone 3.
func pool(changes ...func(*spotpool.Declaration)) spotpool.Declaration {
	d := spotpool.Declaration{
		Name: "train", Region: region, UID: uid, AccountID: account, Generation: 1, Currency: "CNY",
		Minimum: 2, Maximum: 4,
		Offerings: []spotpool.Offering{offering(zone2, t4), offering(zone3, t4)},
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, KeyIDs: []string{"skey-a1b2c3d4"},
		},
	}.WithDefaults()
	for _, change := range changes {
		change(&d)
	}
	return d
}

func offering(zone, instanceType string) spotpool.Offering {
	return spotpool.Offering{AvailabilityZone: zone, InstanceType: instanceType, SubnetID: "subnet-0000000" + zone[len(zone)-1:]}
}

// size sets minimum and maximum.
func size(minimum, maximum int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) { d.Minimum, d.Maximum = minimum, maximum }
}

// instance is a running spot instance of the pool, launched an hour ago from
// its first offering's current configuration.
func instance(id string, changes ...func(*spotpool.Instance)) spotpool.Instance {
	i := spotpool.Instance{
		ID: id, Region: region, AccountID: account, PoolUID: uid, PoolName: "train", SeqTag: 1,
		AvailabilityZone: zone2, InstanceType: t4, SubnetID: "subnet-00000002", VPCID: "vpc-a1b2c3d4",
		ChargeType: spotpool.Spot, State: spotpool.StateRunning, LaunchedAt: ago(time.Hour),
	}
	for _, change := range changes {
		change(&i)
	}
	if i.ConfigurationTag == "" {
		i.ConfigurationTag = spotpool.ConfigurationTag(pool().Configuration, offering(i.AvailabilityZone, i.InstanceType), i.ChargeType)
	}
	return i
}

func inState(s spotpool.State) func(*spotpool.Instance) {
	return func(i *spotpool.Instance) { i.State = s }
}

func inZone(zone string) func(*spotpool.Instance) {
	return func(i *spotpool.Instance) { i.AvailabilityZone = zone }
}

func ofType(instanceType string) func(*spotpool.Instance) {
	return func(i *spotpool.Instance) { i.InstanceType = instanceType }
}

func launched(at time.Time) func(*spotpool.Instance) {
	return func(i *spotpool.Instance) { i.LaunchedAt = at }
}

func onDemand(i *spotpool.Instance)  { i.ChargeType = spotpool.OnDemand }
func drifted(i *spotpool.Instance)   { i.ConfigurationTag = "1:00000000deadbeef" }
func protected(i *spotpool.Instance) { i.Protected = true }

// offer is what a zone asks for a T4.
func offer(zone, price string, changes ...func(*spotpool.Offer)) spotpool.Offer {
	o := spotpool.Offer{
		Market: spotpool.Market{AvailabilityZone: zone, InstanceType: t4, ChargeType: spotpool.Spot},
		Price:  yuan(price), Stock: spotpool.StockEnough, VCPUs: 8,
	}
	for _, change := range changes {
		change(&o)
	}
	return o
}

func soldOut(o *spotpool.Offer)       { o.Stock = spotpool.StockNone }
func onDemandOffer(o *spotpool.Offer) { o.ChargeType = spotpool.OnDemand }

func yuan(s string) spotpool.Price {
	p, err := spotpool.ParsePrice(s)
	if err != nil {
		panic(err)
	}
	return p
}

// seen is the situation of a pool at noon. T4 spot instances cost 2 in zone 2 and 3 in zone 3;
// on-demand ones cost 10.
func seen(d spotpool.Declaration, instances ...spotpool.Instance) decide.Situation {
	s := decide.Situation{
		Declaration: d, Now: noon,
		Journal:     journal.Journal{}.Salted(salt),
		Observation: spotpool.Observation{At: noon, Region: region, AccountID: account, Instances: instances},
	}
	return offered(s, offer(zone2, "2"), offer(zone3, "3"), offer(zone2, "10", onDemandOffer), offer(zone3, "10", onDemandOffer))
}

func offered(s decide.Situation, offers ...spotpool.Offer) decide.Situation {
	s.Observation.Offers = offers
	return s
}

// summaries lists the decisions without their reasons.
func summaries(p decide.Plan) []string {
	var list []string
	for _, d := range p.Decisions {
		list = append(list, d.Summary())
	}
	return list
}

// shouldDecide fails the test where the decisions are not these.
func shouldDecide(t *testing.T, p decide.Plan, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, summaries(p), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("decisions (-want +got):\n%s\nshort: %q", diff, p.Short)
	}
}

// decisionCase is a situation, what is decided in it, and one line of why no more
// is; empty where that is left open.
type decisionCase struct {
	situation decide.Situation
	want      []string
	short     string
}

// shouldDecideEach tests each case by itself.
func shouldDecideEach(t *testing.T, cases map[string]decisionCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := decide.Decide(c.situation)
			shouldDecide(t, p, c.want...)
			if c.short != "" {
				shouldSay(t, "short", p.Short.Texts(), c.short)
			}
		})
	}
}

// shouldSay fails the test where none of the lines is this one.
func shouldSay(t *testing.T, what string, lines []string, want string) {
	t.Helper()
	for _, line := range lines {
		if line == want {
			return
		}
	}
	t.Errorf("%s is\n  %q\nand lacks\n  %q", what, lines, want)
}

// recorded are the ids that a journal has recorded.
func recorded(j journal.Journal) []string {
	ids := make([]string, len(j.Known))
	for n, k := range j.Known {
		ids[n] = k.InstanceID
	}
	return ids
}
