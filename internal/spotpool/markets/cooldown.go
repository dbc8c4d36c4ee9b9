package markets

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Cause is the cause of a cooldown.
type Cause string

// The causes of a cooldown. An offering whose instance was just lost, failed to launch, or failed as a node,
// is avoided if another one can launch. The other causes block an offering until the
// cooldown is over.
const (
	CausedBySoldOut      Cause = "sold out"                             // the offering has no stock
	CausedByPrice        Cause = "market price above spot_max_price"    // the market price is above the maximum price
	CausedByQuota        Cause = "quota used up"                        // the account's quota is used up
	CausedByNotSold      Cause = "not sold here"                        // the offering is not sold in the zone
	CausedByLoss         Cause = "instance just lost"                   // an instance was just lost: other offerings are preferred
	CausedByLaunchFailed Cause = "launch failed"                        // an instance failed to launch: other offerings are preferred
	CausedByNode         Cause = "node failed"                          // an instance failed as a node: other offerings are preferred
	CausedByBatch        Cause = "no stock or quota for a larger batch" // a large launch was refused: smaller ones are tried
)

// Soft reports whether the offering is only avoided while another one can launch.
func (c Cause) Soft() bool {
	return c == CausedByLoss || c == CausedByLaunchFailed || c == CausedByNode
}

// Cooldown is a time in which an offering is avoided.
type Cooldown struct {
	spotpool.Market
	// Why it cools down.
	Cause Cause `json:"cause"`
	// When it ends.
	Until time.Time `json:"until"`
	// Tencent Cloud's error code, or the instance.
	Detail string `json:"detail,omitempty"`
	// The most instances to request at once.
	Batch int `json:"batch,omitempty"`
	// The refused price. An offering with a higher one may launch.
	SpotMaxPrice spotpool.Price `json:"spot_max_price,omitempty"`
}

// Covers reports whether the cooldown applies to launches of an offering.
func (c Cooldown) Covers(o spotpool.Offering, charge spotpool.ChargeType) bool {
	if c.Cause == CausedByPrice && c.SpotMaxPrice > 0 && (o.SpotMaxPrice == 0 || o.SpotMaxPrice > c.SpotMaxPrice) {
		return false
	}
	return c.AvailabilityZone == o.AvailabilityZone && c.ChargeType == charge &&
		(c.InstanceType == "" || c.InstanceType == o.InstanceType)
}

// Reason returns its cause, and until when it lasts.
func (c Cooldown) Reason() reason.Reason {
	until := reason.Instant{Time: c.Until}
	if c.Detail != "" {
		return reason.CooldownDetailed(reason.Word(c.Cause), reason.Word(c.Detail), until)
	}
	return reason.Cooldown(reason.Word(c.Cause), until)
}

func (c Cooldown) String() string { return c.Reason().String() }

// Cooldowns are those of a pool, in the order in which they began.
type Cooldowns []Cooldown

// Add adds a cooldown, and removes an earlier one of the same market and kind.
func (list Cooldowns) Add(c Cooldown) Cooldowns {
	return append(slices.DeleteFunc(slices.Clone(list), func(old Cooldown) bool {
		return old.Market == c.Market && (old.Batch > 0) == (c.Batch > 0) && old.Cause.Soft() == c.Cause.Soft()
	}), c)
}

// At returns the cooldowns that are not over.
func (list Cooldowns) At(now time.Time) Cooldowns {
	return slices.DeleteFunc(slices.Clone(list), func(c Cooldown) bool { return !now.Before(c.Until) })
}

// ForFailedNode returns the cooldown of the market of an instance that failed as a node.
func ForFailedNode(m spotpool.Market, instanceID string, until time.Time) Cooldown {
	return Cooldown{Market: m, Cause: CausedByNode, Detail: instanceID, Until: until}
}

// ForRefusal returns the cooldown after a refused launch; ok is false if there is none. A
// batch that was too large halves the next one, since RunInstances launches all of a batch or
// nothing.
func ForRefusal(r spotpool.Request, refusal *spotpool.CloudError, until time.Time) (c Cooldown, ok bool) {
	if refusal.Scope == spotpool.ScopePool || refusal.Class == errorclass.Transient {
		return Cooldown{}, false
	}
	c = Cooldown{Market: r.Offering.Market(r.ChargeType), Until: until, Detail: refusal.Code}
	if refusal.Scope == spotpool.ScopeZone {
		c.InstanceType = ""
	}
	halves := refusal.Class == errorclass.Quota || refusal.Class == errorclass.Capacity && refusal.Scope == spotpool.ScopeOffering
	switch {
	case halves && r.Count > 1:
		c.Cause, c.Batch = CausedByBatch, r.Count/2
	case refusal.Class == errorclass.Capacity:
		c.Cause = CausedBySoldOut
	case refusal.Class == errorclass.Price:
		c.Cause, c.SpotMaxPrice = CausedByPrice, r.Offering.SpotMaxPrice
	case refusal.Class == errorclass.Quota:
		c.Cause = CausedByQuota
	default:
		c.Cause = CausedByNotSold
	}
	return c, true
}
