package journal

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Journal is what the store keeps of a pool between runs. Its parts are values: a change
// replaces one.
type Journal struct {
	launches.Launches
	fleet.Fleet
	Cooldowns markets.Cooldowns `json:"cooldowns,omitempty"`
	// ShortSince is since when the pool has been below its minimum.
	ShortSince time.Time `json:"short_since,omitzero"`
	// Baseline is how many instances the pool keeps: its minimum, or more if instances were
	// adopted, or minimum was lowered. Surplus is for how long replacements have left more.
	Baseline int          `json:"baseline,omitempty"`
	Surplus  node.Elapsed `json:"surplus,omitzero"`
	// AcceptedConfigurations are the configuration tags of instances at the import of the
	// pool. They count as current until the declared configuration changes from
	// AcceptedUnder.
	AcceptedConfigurations []string `json:"accepted_configurations,omitempty"`
	// AcceptedUnder is the UnknownConfigurationTag of that configuration; empty until the
	// first decision after the import.
	AcceptedUnder string `json:"accepted_under,omitempty"`
	// Object and UID are the pool's, for events. Generation is that of the declaration in the
	// last decision.
	Object     string `json:"object,omitempty"`
	UID        string `json:"uid,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	// GateClosedSince is since when the pool's budget has blocked its launches.
	GateClosedSince time.Time `json:"gate_closed_since,omitzero"`
	// SuspendedSince is since when the pool has replaced no failing nodes.
	SuspendedSince time.Time `json:"suspended_since,omitzero"`
	// Exceeded is since when the budget has certainly been exceeded, if that drains the pool.
	Exceeded Exceeded       `json:"exceeded,omitzero"`
	Prices   markets.Prices `json:"prices,omitempty"`
	// EarlyFailures are the instances of the configuration that were replaced in a row before they were proven.
	EarlyFailures node.Streak     `json:"early_failures,omitzero"`
	Tokens        launches.Tokens `json:"bootstrap_tokens,omitempty"`
	// Unreported are events that the history may lack. They are added with the change that
	// they report, and removed once they are reported. LeftOut counts older events for which
	// there was no room.
	Unreported []history.Event `json:"unreported,omitempty"`
	LeftOut    int             `json:"unreported_left_out,omitempty"`
}

// Exceeded is since when every observation has shown for certain that a budget is exceeded.
type Exceeded struct {
	Budget string    `json:"budget"`
	Since  time.Time `json:"since"`
}

// New returns the journal of a new pool.
func New(d spotpool.Declaration, now time.Time) Journal {
	j := Journal{Object: d.Object(), UID: d.UID}
	return j.with(j.about(now).Declaration(history.Create))
}

// Salted returns the journal with this salt, unless it has one.
func (j Journal) Salted(salt string) Journal {
	if j.Salt == "" {
		j.Salt = salt
	}
	return j
}

// Accepting returns the journal in which these configuration tags count as current until the
// declared configuration changes.
func (j Journal) Accepting(tags []string) Journal {
	j.AcceptedConfigurations, j.AcceptedUnder = slices.Compact(slices.Sorted(slices.Values(tags))), ""
	return j
}

// NeedsCluster reports whether decisions about the pool depend on a cluster. It has nodes, or
// had some with cordons or marks to remove, or has tokens to delete.
func (j Journal) NeedsCluster(d spotpool.Declaration) bool {
	return d.Nodes != nil || j.NeedsCleanup() || j.AnyNode()
}

// NeedsCleanup reports whether nodes must be uncordoned, or tokens deleted, however long the
// cluster is unreachable.
func (j Journal) NeedsCleanup() bool { return len(j.Tokens) > 0 || j.AnyDrained() }

// FailingEarly says why replacing is suspended because instances failed early. It is zero if it is not. A release, a
// node that works for an hour, and a new configuration end that.
func (j Journal) FailingEarly(d spotpool.Declaration) reason.Reason {
	if d.Nodes == nil {
		return reason.Reason{}
	}
	return node.Suspended(j.EarlyFailures, node.Count{}, node.Count{})
}

// WithoutReported removes the events that the history has.
func (j Journal) WithoutReported(has func(history.Event) bool) Journal {
	if left := history.Unreported(j.Unreported, has); len(left) < len(j.Unreported) {
		if j.Unreported = left; left == nil {
			j.LeftOut = 0
		}
	}
	return j
}

// Stored returns the journal as it is stored: events for which there is no room are removed
// and counted.
func (j Journal) Stored() Journal {
	kept, leftOut := history.Newest(j.Unreported)
	j.Unreported, j.LeftOut = kept, j.LeftOut+leftOut
	return j
}

// with adds events to report. The journal of no pool reports nothing.
func (j Journal) with(events ...history.Event) Journal {
	if j.UID != "" {
		j.Unreported = slices.Concat(j.Unreported, events)
	}
	return j
}

// withFleet returns the journal with a changed fleet, and the events of the change.
func (j Journal) withFleet(f fleet.Fleet, events []history.Event) Journal {
	j.Fleet = f
	return j.with(events...)
}

func (j Journal) about(at time.Time, reasons ...reason.Reason) history.About {
	return history.About{At: at, Object: j.Object, ObjectUID: j.UID, Reasons: reasons}
}
