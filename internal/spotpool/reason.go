package spotpool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Code says in a word why a pool stays as it is.
type Code string

// The codes. Those from BecauseHourlyCap to BecauseNotSold are of one offering each,
// in the order in which the last of them is met first: what is only above the hourly
// cost cap is sold, in stock, and within its price cap and the quota.
const (
	BecauseHold            Code = "hold"
	BecauseGate            Code = "gate"
	BecauseGateUnknown     Code = "gate_unknown"
	BecauseGateUndeclared  Code = "gate_undeclared"
	BecauseContradiction   Code = "contradiction"
	BecauseJournalLost     Code = "journal_lost"
	BecauseRefused         Code = "refused"
	BecauseHourlyCap       Code = "hourly_cap"
	BecausePriceUnknown    Code = "price_unknown"
	BecauseBatch           Code = "batch"
	BecauseQuota           Code = "quota"
	BecauseCooldown        Code = "cooldown"
	BecauseAboveMaxPrice   Code = "above_max_price"
	BecauseSoldOut         Code = "sold_out"
	BecauseNotSold         Code = "not_sold"
	BecauseLaunchTimeout   Code = "launch_timeout"
	BecauseMaximum         Code = "maximum"
	BecausePerRunCap       Code = "per_run_cap"
	BecauseOpenLaunch      Code = "open_launch"
	BecauseReplacement     Code = "replacement"
	BecauseFallbackLater   Code = "fallback_later"
	BecauseFallbackMaximum Code = "fallback_maximum"
	BecauseCluster         Code = "cluster"
	BecauseDrain           Code = "drain"
	BecauseSurplus         Code = "surplus"
)

// codes are all of them, what binds most first, and how counts of offerings call
// them.
var codes = []struct {
	code Code
	word string
}{
	{BecauseHold, "on hold by a person"},
	{BecauseGate, "held back by the budget"},
	{BecauseGateUnknown, "held back, as the budget's use is unknown"},
	{BecauseGateUndeclared, "held back, as the budget is not declared"},
	{BecauseContradiction, "contradicted"},
	{BecauseJournalLost, "held back, as the journal was lost"},
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
	{BecauseOpenLaunch, "launch under way"},
	{BecauseReplacement, "to be replaced"},
	{BecauseFallbackLater, "fallback later"},
	{BecauseFallbackMaximum, "fallback used up"},
	{BecauseCluster, "held back by the cluster"},
	{BecauseDrain, "draining"},
	{BecauseSurplus, "to be scaled in"},
}

// Codes lists every code, what binds most first.
func Codes() []Code {
	list := make([]Code, len(codes))
	for n, c := range codes {
		list[n] = c.code
	}
	return list
}

// rank is a code's place among all of them.
func (c Code) rank() int { return slices.Index(Codes(), c) }

// HoldsBack reports whether nothing of the pool is launched for it, in whichever
// offering: it binds more than what is of one offering.
func (c Code) HoldsBack() bool { return c.rank() < BecauseHourlyCap.rank() }

// Reason is one thing that keeps a pool below its minimum, or its outdated instances
// from being replaced: of an offering, or of the whole pool.
type Reason struct {
	Code Code `json:"code"`
	// Offering and ChargeType say which offering was passed over; absent where the
	// reason is the whole pool's.
	Offering   *Offering  `json:"offering,omitempty"`
	ChargeType ChargeType `json:"charge_type,omitempty"`
	Price      Price      `json:"price,omitempty"` // of the market, an hour; absent where it is unknown
	Until      time.Time  `json:"until,omitzero"`  // when it ends by itself
	Text       string     `json:"text"`
}

// String is the reason for people, with the offering that it is of.
func (r Reason) String() string {
	if r.Offering == nil {
		return r.Text
	}
	return fmt.Sprintf("%s %s: %s", ChargeName(r.ChargeType), r.Offering.Market(r.ChargeType), r.Text)
}

// Reasons are why a pool stays as it is.
type Reasons []Reason

// Texts are all of them for people.
func (r Reasons) Texts() []string {
	var texts []string
	for _, reason := range r {
		texts = append(texts, reason.String())
	}
	return texts
}

// briefAtMost is how many lines Brief has at most.
const briefAtMost = 3

// Brief is what people are told of them where they ask for nothing else: the binding
// one first, then how many offerings were passed over for what, and then what else
// there is of the whole pool. Few are told as they are.
func (r Reasons) Brief() []string {
	ordered := slices.Clone(r)
	slices.SortStableFunc(ordered, compareReasons)
	if len(ordered) <= briefAtMost {
		return ordered.Texts()
	}
	lines := []string{ordered[0].String()}
	if counts := ordered.counts(); counts != "" {
		lines = append(lines, counts)
	}
	var others []string
	for _, reason := range ordered[1:] {
		if reason.Offering == nil {
			others = append(others, reason.Text)
		}
	}
	if len(others) > 0 {
		lines = append(lines, strings.Join(others, "; "))
	}
	return lines
}

// compareReasons puts first what is nearest to a launch: of the same code the
// cheapest offering, and the one that is free soonest.
func compareReasons(a, b Reason) int {
	if rank := cmp.Compare(a.Code.rank(), b.Code.rank()); rank != 0 || a.Code != BecauseAboveMaxPrice {
		return cmp.Or(rank, a.Until.Compare(b.Until))
	}
	return cmp.Compare(a.Price, b.Price)
}

// counts says for each charge type how many offerings were passed over for what; an
// offering that was passed over twice counts once.
func (r Reasons) counts() string {
	type place struct {
		Offering
		charge ChargeType
	}
	seen := map[place]bool{}
	byCharge := map[ChargeType]Reasons{}
	for _, reason := range r {
		if reason.Offering == nil {
			continue
		}
		if at := (place{*reason.Offering, reason.ChargeType}); !seen[at] {
			seen[at] = true
			byCharge[reason.ChargeType] = append(byCharge[reason.ChargeType], reason)
		}
	}
	var texts []string
	for _, charge := range []ChargeType{Spot, OnDemand} {
		if list := byCharge[charge]; len(list) > 0 {
			texts = append(texts, fmt.Sprintf("%d %s offerings passed over: %s", len(list), ChargeName(charge), list.byCode()))
		}
	}
	return strings.Join(texts, "; ")
}

// byCode counts ordered reasons by their code, and says of each code what is nearest
// to a launch.
func (r Reasons) byCode() string {
	var texts []string
	for n := 0; n < len(r); {
		first, count := r[n], 0
		for n < len(r) && r[n].Code == first.Code {
			count++
			n++
		}
		text := fmt.Sprintf("%s: %d", codes[first.Code.rank()].word, count)
		switch {
		case first.Code == BecauseAboveMaxPrice && first.Price > 0:
			text += ", cheapest " + first.Price.String()
		case !first.Until.IsZero():
			text += ", first until " + wording.Instant(first.Until)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}
