package spotpool

import (
	"cmp"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Code is a reason why a pool stays below its minimum. The list starts with the most binding one.
// The codes from `hourly_cap` to `not_sold` concern one offering each.
type Code string

// The codes. Those from BecauseHourlyCap to BecauseNotSold are about one offering each, and
// are checked in the opposite order. So an offering that is only above the hourly cost cap
// is sold, in stock, and within its price cap and the quota.
const (
	BecauseHold            Code = "hold"             // an operator put the pool on hold: nothing is launched or terminated
	BecauseGate            Code = "gate"             // its budget is exceeded
	BecauseGateUnknown     Code = "gate_unknown"     // its budget's usage is unknown
	BecauseGateUndeclared  Code = "gate_undeclared"  // the store has no budget of that name
	BecauseContradiction   Code = "contradiction"    // it is unclear whether some instances belong to the pool
	BecauseJournalLost     Code = "journal_lost"     // its journal was lost less than ten minutes ago: earlier launches may not be listed yet
	BecauseRefused         Code = "refused"          // Tencent Cloud refused a launch, and no other offering would help
	BecauseHourlyCap       Code = "hourly_cap"       // a launch would exceed `max_hourly_cost`
	BecausePriceUnknown    Code = "price_unknown"    // a price is unknown, so `max_hourly_cost` cannot be checked
	BecauseBatch           Code = "batch"            // a larger batch was refused recently
	BecauseQuota           Code = "quota"            // the account's spot quota in the zone is used up
	BecauseCooldown        Code = "cooldown"         // Tencent Cloud refused the offering recently: it is tried again later
	BecauseAboveMaxPrice   Code = "above_max_price"  // the market price is above `spot_max_price`
	BecauseSoldOut         Code = "sold_out"         // the offering has no stock
	BecauseNotSold         Code = "not_sold"         // the offering is not sold in the zone
	BecauseLaunchTimeout   Code = "launch_timeout"   // instances that have been starting for longer than `launch_timeout` use up the maximum
	BecauseMaximum         Code = "maximum"          // the pool has its maximum of instances
	BecausePerRunCap       Code = "per_run_cap"      // the run launched `max_launches_per_run` instances: the next run continues
	BecauseOpenLaunch      Code = "open_launch"      // a launch is pending
	BecauseReplacement     Code = "replacement"      // drifted instances, failing nodes or on-demand instances cannot be replaced yet
	BecauseFallbackLater   Code = "fallback_later"   // on-demand instances are launched later
	BecauseFallbackMaximum Code = "fallback_maximum" // `on_demand_fallback` allows no more on-demand instances
	BecauseCluster         Code = "cluster"          // the cluster could not be observed, or a node is ambiguous: nothing is drained, replaced or terminated
	BecauseDrain           Code = "drain"            // a termination waits for the drain of its node
	BecauseSurplus         Code = "surplus"          // replacements left more instances than desired, which are scaled in later
)

// codes are all of them, the strongest first, with the words in counts of offerings.
var codes = []struct {
	code Code
	word string
}{
	{BecauseHold, "on hold"},
	{BecauseGate, "blocked by the budget"},
	{BecauseGateUnknown, "blocked, since the budget's usage is unknown"},
	{BecauseGateUndeclared, "blocked, since the budget is not declared"},
	{BecauseContradiction, "contradicted"},
	{BecauseJournalLost, "blocked, since the journal was lost"},
	{BecauseRefused, "refused"},
	{BecauseHourlyCap, "above max_hourly_cost"},
	{BecausePriceUnknown, "price unknown"},
	{BecauseBatch, "no larger batch"},
	{BecauseQuota, "above the quota"},
	{BecauseCooldown, "cooling down"},
	{BecauseAboveMaxPrice, "above spot_max_price"},
	{BecauseSoldOut, "sold out"},
	{BecauseNotSold, "not sold"},
	{BecauseLaunchTimeout, "stuck"},
	{BecauseMaximum, "at maximum"},
	{BecausePerRunCap, "in the next run"},
	{BecauseOpenLaunch, "launch pending"},
	{BecauseReplacement, "to be replaced"},
	{BecauseFallbackLater, "fallback later"},
	{BecauseFallbackMaximum, "fallback used up"},
	{BecauseCluster, "blocked, since the cluster is unknown"},
	{BecauseDrain, "draining"},
	{BecauseSurplus, "to be scaled in"},
}

// Codes returns every code, the strongest first.
func Codes() []Code {
	list := make([]Code, len(codes))
	for n, c := range codes {
		list[n] = c.code
	}
	return list
}

func (c Code) rank() int { return slices.Index(Codes(), c) }

// HoldsBack reports whether it blocks every launch of the pool, in any offering.
func (c Code) HoldsBack() bool { return c.rank() < BecauseHourlyCap.rank() }

// Reason is why a pool stays below its minimum, or why its drifted instances are not
// replaced. It is about an offering, or about the whole pool.
type Reason struct {
	// The code of the reason.
	Code Code `json:"code"`
	// The offering that was skipped. Absent if the reason concerns the whole pool.
	Offering *Offering `json:"offering,omitempty"`
	// The charge type that was skipped.
	ChargeType ChargeType `json:"charge_type,omitempty"`
	// The hourly market price. Null or absent if unknown.
	Price Price `json:"price,omitempty"`
	// The currency of the prices. Absent without an offering.
	Currency Currency `json:"currency,omitempty"`
	// When the reason expires, if it does.
	Until time.Time `json:"until,omitzero"`
	// The reason as a sentence.
	Why reason.Reason `json:"why"`
}

// For returns the reason as a reader of the pool may see it.
func (r Reason) For(reader reason.Renderer) Reason {
	r.Why = reader.Redact(r.Why)
	return r
}

// Sentence returns the reason with its offering.
func (r Reason) Sentence() reason.Reason {
	if r.Offering == nil {
		return r.Why
	}
	return reason.OfferingSkipped(reason.Word(ChargeName(r.ChargeType)), reason.Word(r.Offering.Market(r.ChargeType).String()), r.Why)
}

// String returns the reason for people, with its offering.
func (r Reason) String() string { return r.Sentence().String() }

// Same reports whether two reasons say the same, of the same offering.
func (r Reason) Same(other Reason) bool {
	sameOffering := r.Offering == other.Offering || r.Offering != nil && other.Offering != nil && *r.Offering == *other.Offering
	return sameOffering && r.ChargeType == other.ChargeType && r.Why.Same(other.Why)
}

// Reasons explain why a pool stays unchanged.
type Reasons []Reason

// Texts returns all of them for people.
func (r Reasons) Texts() []string { return r.sentences().Texts() }

// briefAtMost is how many lines Brief has at most.
const briefAtMost = 3

// Brief summarizes them: first the strongest, then how many offerings were skipped for each
// reason, and then the other reasons of the whole pool. If they are few, it returns all.
func (r Reasons) Brief() reason.Reasons {
	ordered := slices.Clone(r)
	slices.SortStableFunc(ordered, compareReasons)
	if len(ordered) <= briefAtMost {
		return ordered.sentences()
	}
	lines := reason.Reasons{ordered[0].Sentence()}
	if counts := ordered.counts(); len(counts) > 0 {
		lines = append(lines, reason.Several(counts))
	}
	var others reason.Reasons
	for _, because := range ordered[1:] {
		if because.Offering == nil {
			others = append(others, because.Why)
		}
	}
	if len(others) > 0 {
		lines = append(lines, reason.Several(others))
	}
	return lines
}

// sentences returns each with its offering.
func (r Reasons) sentences() (list reason.Reasons) {
	for _, because := range r {
		list = append(list, because.Sentence())
	}
	return list
}

// Cause returns the strongest of them in a few words, for a headline.
func (r Reasons) Cause() reason.Word {
	if len(r) == 0 {
		return "unknown"
	}
	return reason.Word(codes[slices.MinFunc(r, compareReasons).Code.rank()].word)
}

// compareReasons sorts by strength. Within a code, it sorts the offering first that is
// nearest to a launch: the cheapest, or the one that is free soonest.
func compareReasons(a, b Reason) int {
	if rank := cmp.Compare(a.Code.rank(), b.Code.rank()); rank != 0 || a.Code != BecauseAboveMaxPrice {
		return cmp.Or(rank, a.Until.Compare(b.Until))
	}
	return cmp.Compare(a.Price, b.Price)
}

// counts says for each charge type how many offerings were skipped for each reason. An
// offering that was skipped twice counts once.
func (r Reasons) counts() (counts reason.Reasons) {
	type place struct {
		Offering
		charge ChargeType
	}
	seen := map[place]bool{}
	byCharge := map[ChargeType]Reasons{}
	for _, because := range r {
		if because.Offering == nil {
			continue
		}
		if at := (place{*because.Offering, because.ChargeType}); !seen[at] {
			seen[at] = true
			byCharge[because.ChargeType] = append(byCharge[because.ChargeType], because)
		}
	}
	for _, charge := range []ChargeType{Spot, OnDemand} {
		if list := byCharge[charge]; len(list) > 0 {
			counts = append(counts, reason.OfferingsCounted(reason.Count(len(list)), reason.Word(ChargeName(charge)), list.byCode()))
		}
	}
	return counts
}

// byCode counts sorted reasons by their code, with the offering that is nearest to a launch.
func (r Reasons) byCode() (causes reason.Reasons) {
	for n := 0; n < len(r); {
		first, count := r[n], reason.Count(0)
		for n < len(r) && r[n].Code == first.Code {
			count++
			n++
		}
		switch cause := reason.Word(codes[first.Code.rank()].word); {
		case first.Code == BecauseAboveMaxPrice && first.Price > 0:
			causes = append(causes, reason.CauseCheapest(cause, count, first.Currency.Reason(first.Price)))
		case !first.Until.IsZero():
			causes = append(causes, reason.CauseFirst(cause, count, reason.Instant{Time: first.Until}))
		default:
			causes = append(causes, reason.CauseCounted(cause, count))
		}
	}
	return causes
}
