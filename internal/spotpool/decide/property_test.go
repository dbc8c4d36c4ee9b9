package decide_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// declarations draws valid declarations of small pools.
func declarations() *rapid.Generator[spotpool.Declaration] {
	return rapid.Custom(func(t *rapid.T) spotpool.Declaration {
		d := pool()
		d.Maximum = rapid.IntRange(0, 6).Draw(t, "maximum")
		d.Minimum = rapid.IntRange(0, d.Maximum).Draw(t, "minimum")
		d.Offerings = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) spotpool.Offering {
			o := offering(rapid.SampledFrom([]string{zone2, zone3, zone4}).Draw(t, "zone"), rapid.SampledFrom([]string{t4, a10}).Draw(t, "type"))
			o.SpotMaxPrice = rapid.SampledFrom([]spotpool.Price{0, 0, yuan("2.5"), yuan("4")}).Draw(t, "spot_max_price")
			return o
		}), 1, 4, func(o spotpool.Offering) string { return o.AvailabilityZone + o.InstanceType }).Draw(t, "offerings")
		d.AllocationStrategy = rapid.SampledFrom([]spotpool.AllocationStrategy{spotpool.Priority, spotpool.LowestPrice, spotpool.Balanced}).Draw(t, "strategy")
		d.InstanceChargeType = rapid.SampledFrom([]spotpool.ChargeType{spotpool.Spot, spotpool.Spot, spotpool.Spot, spotpool.OnDemand}).Draw(t, "charge type")
		if d.InstanceChargeType == spotpool.OnDemand {
			for n := range d.Offerings {
				d.Offerings[n].SpotMaxPrice = 0
			}
		}
		d.MaxHourlyCost = rapid.SampledFrom([]spotpool.Price{0, 0, 0, yuan("9"), yuan("40")}).Draw(t, "max_hourly_cost")
		d.MaxLaunchesPerRun = rapid.SampledFrom([]int{1, 3, 50}).Draw(t, "max_launches_per_run")
		d.OnDemandBase = rapid.IntRange(0, min(2, d.Maximum)).Draw(t, "on_demand_base")
		if d.InstanceChargeType == spotpool.Spot && rapid.Bool().Draw(t, "falls back") {
			d.OnDemandFallback = &spotpool.OnDemandFallback{
				After: spotpool.Duration(10 * time.Minute), Maximum: rapid.IntRange(1, max(1, d.Maximum)).Draw(t, "fallback"),
			}
		}
		d.SurplusAfter = new(spotpool.Duration(time.Duration(rapid.SampledFrom([]int{0, 10, 60}).Draw(t, "surplus_after")) * time.Minute))
		d.Refresh = spotpool.Refresh{
			Strategy: rapid.SampledFrom([]spotpool.RefreshStrategy{spotpool.RefreshNone, spotpool.RefreshOpportunistic, spotpool.RefreshRolling}).Draw(t,
				"refresh"),
			MaxSurge:       rapid.IntRange(0, 2).Draw(t, "max_surge"),
			MaxUnavailable: rapid.IntRange(0, 2).Draw(t, "max_unavailable"),
		}
		if r := &d.Refresh; r.Strategy == spotpool.RefreshRolling && r.MaxUnavailable == 0 && (r.MaxSurge == 0 || d.Minimum == d.Maximum) {
			r.MaxUnavailable = 1
		}
		return d
	})
}

var states = []spotpool.State{
	spotpool.StatePending, spotpool.StateLaunchFailed, spotpool.StateRunning, spotpool.StateRunning, spotpool.StateRunning,
	spotpool.StateStarting, spotpool.StateRebooting, spotpool.StateStopped, spotpool.StateStopping, spotpool.StateShutdown,
	spotpool.StateTerminating, spotpool.StateRescueMode, "FREEZING",
}

// instances draws instances: the pool's own, and some that look like it.
func instances() *rapid.Generator[spotpool.Instance] {
	return rapid.Custom(func(t *rapid.T) spotpool.Instance {
		i := instance(fmt.Sprintf("ins-%02d", rapid.IntRange(0, 30).Draw(t, "id")))
		i.PoolUID = rapid.SampledFrom([]string{uid, uid, uid, uid, "", "ffff"}).Draw(t, "uid")
		i.Region = rapid.SampledFrom([]string{region, region, region, region, "ap-tokyo"}).Draw(t, "region")
		i.AccountID = rapid.SampledFrom([]string{account, account, account, account, "200"}).Draw(t, "account")
		i.SeqTag = rapid.Int64Range(0, 8).Draw(t, "sequence")
		i.AvailabilityZone = rapid.SampledFrom([]string{zone2, zone3}).Draw(t, "zone")
		i.ChargeType = rapid.SampledFrom([]spotpool.ChargeType{spotpool.Spot, spotpool.Spot, spotpool.OnDemand}).Draw(t, "charge type")
		i.State = rapid.SampledFrom(states).Draw(t, "state")
		i.Restricted = rapid.IntRange(0, 9).Draw(t, "restricted") == 0
		i.Protected = rapid.IntRange(0, 5).Draw(t, "protected") == 0
		i.APIProtected = rapid.IntRange(0, 9).Draw(t, "api protected") == 0
		i.LaunchedAt = ago(time.Duration(rapid.IntRange(0, 40).Draw(t, "minutes old")) * time.Minute)
		i.ConfigurationTag = rapid.SampledFrom([]string{
			i.ConfigurationTag, "", "1:beef", "0:beef", spotpool.UnknownConfigurationTag(pool().Configuration),
		}).Draw(t, "configuration")
		return i
	})
}

// situations draws situations, likely and unlikely ones.
func situations() *rapid.Generator[decide.Situation] {
	return rapid.Custom(func(t *rapid.T) decide.Situation {
		s := seen(declarations().Draw(t, "declaration"),
			rapid.SliceOfNDistinct(instances(), 0, 8, func(i spotpool.Instance) string { return i.ID }).Draw(t, "instances")...)
		if rapid.Bool().Draw(t, "listed twice") {
			s.Observation.Instances = append(s.Observation.Instances, s.Observation.Instances...)
		}
		for n := range s.Observation.Offers {
			if rapid.IntRange(0, 4).Draw(t, "sold out") == 0 {
				s.Observation.Offers[n].Stock = spotpool.StockNone
			}
		}
		if rapid.IntRange(0, 4).Draw(t, "blind") == 0 {
			s.Observation.Offers = nil
		}
		if rapid.IntRange(0, 2).Draw(t, "quota") == 0 {
			s.Observation.SpotVCPUs = map[string]int{zone2: rapid.IntRange(0, 40).Draw(t, "vCPUs")}
		}
		s.Journal = journals(s.Declaration).Draw(t, "journal")
		s.SoFar = decide.SoFar{Launched: rapid.IntRange(0, 2).Draw(t, "launched"), Refreshed: rapid.IntRange(0, 4).Draw(t, "refreshed") == 0}
		s.Gate = spotpool.Gate{Closed: rapid.IntRange(0, 5).Draw(t, "gate") == 0, Reason: reason.OtherVersion("the budget is used up")}
		return s
	})
}

// journals draws what may be remembered of a pool.
func journals(d spotpool.Declaration) *rapid.Generator[journal.Journal] {
	return rapid.Custom(func(t *rapid.T) journal.Journal {
		j := journal.Journal{}.Salted(salt)
		at := func(name string) time.Time {
			return ago(time.Duration(rapid.IntRange(0, 30).Draw(t, name)) * time.Minute)
		}
		for sequence := range rapid.Int64Range(0, 6).Draw(t, "launches") {
			r := spotpool.Request{
				Region: region, Pool: d.Name, UID: uid, Sequence: sequence + 1, SeqTag: sequence + 1, Token: launches.Token(uid, salt, sequence+1),
				Offering: d.Offerings[0], ChargeType: d.InstanceChargeType, Count: rapid.IntRange(1, 3).Draw(t, "count"), Configuration: d.Configuration,
			}
			j = j.Open(launches.Launch{Request: r, WrittenAt: at("written")})
			switch rapid.IntRange(0, 3).Draw(t, "outcome") {
			case 0: // remains open
			case 1:
				class := rapid.SampledFrom([]errorclass.Class{
					errorclass.Capacity, errorclass.Price, errorclass.Quota, errorclass.Configuration, errorclass.Transient,
				}).Draw(t, "class")
				scope := rapid.SampledFrom([]spotpool.ErrorScope{spotpool.ScopeOffering, spotpool.ScopeZone, spotpool.ScopePool}).Draw(t, "scope")
				j, _ = j.Refuse(r.Sequence, &spotpool.CloudError{Class: class, Scope: scope, NothingLaunched: true, Code: "Code"}, d.Cooldown, at("refused"))
			default:
				var ids []string
				for range r.Count {
					ids = append(ids, fmt.Sprintf("ins-%02d", rapid.IntRange(0, 30).Draw(t, "known")))
				}
				j = j.Accept(r.Sequence, ids, at("accepted"))
			}
		}
		if rapid.Bool().Draw(t, "ending") {
			j = j.Terminate(recorded(j)[:len(j.Known)/2], at("ending"))
		}
		if rapid.Bool().Draw(t, "short") {
			j.ShortSince = at("short since")
		}
		return j
	})
}

// TestDeclarationsOfAllKindsAreValid checks what the other properties begin with.
func TestDeclarationsOfAllKindsAreValid(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		d := declarations().Draw(t, "declaration")
		if problems := d.Validate(); len(problems) > 0 {
			t.Fatalf("problems: %v", problems)
		}
		if diff := cmp.Diff(d, d.WithDefaults()); diff != "" {
			t.Fatalf("defaults change what is set:\n%s", diff)
		}
	})
}

func TestDecideKeepsItsPromises(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		p := decide.Decide(s)
		if promise := brokenPromise(s, p); promise != "" {
			t.Fatalf("%s\ndecisions: %q\ncounts: %+v", promise, p.Decisions, p.Counts)
		}
	})
}

func TestDecideIsAPureFunction(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		before := deepCopy(s)
		first := decide.Decide(s)
		if diff := cmp.Diff(before, s); diff != "" {
			t.Fatalf("Decide changed its argument (-before +after):\n%s", diff)
		}
		slices.Reverse(before.Observation.Instances) // the order of a listing means nothing
		if diff := cmp.Diff(first, decide.Decide(before)); diff != "" {
			t.Fatalf("the same situation gave another plan:\n%s", diff)
		}
	})
}

func TestAbsorbingTwiceChangesNothing(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := situations().Draw(t, "situation")
		first := decide.Decide(s)
		s.Journal = first.Journal
		second := decide.Decide(s)
		if diff := cmp.Diff(first.Journal, second.Journal, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the journal is not stable:\n%s", diff)
		}
		if diff := cmp.Diff(first.Decisions, second.Decisions, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("the decisions are not stable:\n%s", diff)
		}
		if len(second.Messages) > 0 && strings.Contains(second.Messages[0].String(), "gone") {
			t.Fatalf("noticed twice: %q", second.Messages)
		}
	})
}

// brokenPromise says which of the things that must always hold does not.
func brokenPromise(s decide.Situation, p decide.Plan) string {
	d := s.Declaration
	own := map[string]bool{}
	for _, i := range s.Observation.Instances {
		if i.PoolUID == d.UID && i.Region == d.Region && i.AccountID == d.AccountID {
			own[i.ID] = true
		}
	}
	members := map[string]decide.Member{}
	for _, m := range p.Members {
		if members[m.ID].ID != "" {
			return m.ID + " is counted twice"
		}
		if !own[m.ID] && !s.Journal.Expects(m.ID, s.Now) {
			return m.ID + " is not the pool's, and is counted"
		}
		members[m.ID] = m
	}
	launched, sequence, ended := 0, s.Journal.LastSequence, map[string]bool{}
	working := 0
	for _, m := range p.Members {
		if (m.Condition == decide.Running || m.Condition == decide.Launching) && !m.Ending && !m.Interrupted() {
			working++
		}
	}
	if p.Wanted != nil {
		d.Minimum, d.Maximum = *p.Wanted, *p.Wanted
	}
	spare := max(0, working-d.Minimum)
	for _, intent := range s.Journal.Pending {
		sequence = max(sequence, intent.Request.Sequence)
	}
	for _, m := range members {
		sequence = max(sequence, m.SeqTag)
	}
	for _, decision := range p.Decisions {
		if len(decision.Reasons) == 0 || slices.Contains(decision.Reasons.Texts(), "") {
			return "a decision without a reason: " + decision.Summary()
		}
		switch {
		case decision.Kind == spotpool.KindLaunch && decision.Resume:
			if decision.Token != decision.Request.Token || decision.Sequence > s.Journal.LastSequence {
				return "a launch is resumed that was never asked for"
			}
		case decision.Kind == spotpool.KindLaunch:
			r := decision.Request
			if decision.Sequence <= sequence || r.Sequence != decision.Sequence || r.Token != launches.Token(d.UID, s.Journal.Salt, r.Sequence) ||
				decision.Token != r.Token {
				return fmt.Sprintf("sequence %d after %d, or a token of another", decision.Sequence, sequence)
			}
			if decision.Count < 1 || decision.Count > decide.MaxBatch || r.Count != decision.Count {
				return fmt.Sprintf("a launch of %d, asked for as %d", decision.Count, r.Count)
			}
			if s.Gate.Closed {
				return "a launch through a closed gate"
			}
			sequence = decision.Sequence
			launched += decision.Count
		case decision.Kind == spotpool.KindTerminate:
			for _, id := range decision.InstanceIDs {
				m := members[id]
				switch {
				case !own[id]:
					return id + " is not the pool's, and is ended"
				case ended[id]:
					return id + " is ended twice"
				case m.Protected || m.APIProtected:
					return id + " is protected, and is ended"
				case m.State == spotpool.StatePending || m.State == spotpool.StateLaunchFailed || m.State == spotpool.StateTerminating || m.State == "FREEZING":
					return id + " is ended while " + string(m.State)
				}
				ended[id] = true
				if m.Condition != decide.Running || m.Ending || m.Replaced() || m.Interrupted() || decision.Refresh {
					continue
				}
				if spare--; spare < 0 {
					return fmt.Sprintf("%s is ended, and fewer than the minimum of %d are left working", id, d.Minimum)
				}
			}
		}
	}
	if launched > 0 && p.Total+launched > d.Maximum {
		return fmt.Sprintf("%d launched beside %d held, above maximum %d", launched, p.Total, d.Maximum)
	}
	if launched > 0 && s.SoFar.Launched+launched > d.MaxLaunchesPerRun {
		return fmt.Sprintf("%d launched in a run that may launch %d", s.SoFar.Launched+launched, d.MaxLaunchesPerRun)
	}
	return ""
}

func deepCopy(s decide.Situation) decide.Situation {
	s.Observation.Instances = slices.Clone(s.Observation.Instances)
	s.Observation.Offers = slices.Clone(s.Observation.Offers)
	s.Declaration.Offerings = slices.Clone(s.Declaration.Offerings)
	s.Journal.Pending = slices.Clone(s.Journal.Pending)
	for n := range s.Journal.Pending {
		s.Journal.Pending[n].Seen = slices.Clone(s.Journal.Pending[n].Seen)
	}
	return s
}
