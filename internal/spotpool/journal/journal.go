package journal

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/markets"
)

// Journal is what the store has of a pool between runs. Its parts are values: a change of
// one puts another in its place.
type Journal struct {
	launches.Launches
	fleet.Fleet
	Cooldowns markets.Cooldowns `json:"cooldowns,omitempty"`
	// ShortSince is since when the pool has been below its minimum.
	ShortSince time.Time `json:"short_since,omitzero"`
	// Baseline is how many instances the pool is to keep: its minimum, or more if instances
	// were adopted, or minimum was lowered. Whatever works above that, replacements left,
	// and Surplus is for how long.
	Baseline int          `json:"baseline,omitempty"`
	Surplus  node.Elapsed `json:"surplus,omitzero"`
	// AcceptedConfigurations are configuration tags that count as current though
	// their hash differs: those that instances had when the pool was imported. They
	// count until the declared configuration changes from AcceptedUnder.
	AcceptedConfigurations []string `json:"accepted_configurations,omitempty"`
	// AcceptedUnder is the UnknownConfigurationTag of that configuration; empty
	// until the first decision after the import.
	AcceptedUnder string `json:"accepted_under,omitempty"`
	// Object and UID are the pool's, which events name, and Generation that of the
	// declaration that was last decided by.
	Object     string `json:"object,omitempty"`
	UID        string `json:"uid,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	// GateClosedSince is since when the pool's budget holds its launches back.
	GateClosedSince time.Time `json:"gate_closed_since,omitzero"`
	// SuspendedSince is since when the pool replaces none of its nodes that fail.
	SuspendedSince time.Time `json:"suspended_since,omitzero"`
	// Exceeded is since when the budget is observed exceeded for certain, where that
	// drains the pool.
	Exceeded Exceeded       `json:"exceeded,omitzero"`
	Prices   markets.Prices `json:"prices,omitempty"`
	// NeverJoined are the instances of one configuration that were replaced since they
	// never joined the cluster.
	NeverJoined node.Streak     `json:"never_joined,omitzero"`
	Tokens      launches.Tokens `json:"bootstrap_tokens,omitempty"`
	// Unreported are events that the history may lack: what changes the journal adds them
	// in the same write, and who has reported them leaves them out of its next one.
	// LeftOut is how many older ones there was no room for.
	Unreported []history.Event `json:"unreported,omitempty"`
	LeftOut    int             `json:"untold_left_out,omitempty"`
}

// Exceeded is since when a budget has been observed exceeded for certain, without an
// observation in between that did not show so.
type Exceeded struct {
	Budget string    `json:"budget"`
	Since  time.Time `json:"since"`
}

// New is the journal of a pool that is declared.
func New(d spotpool.Declaration, now time.Time) Journal {
	j := Journal{Object: d.Object(), UID: d.UID}
	return j.with(j.about(now).Declaration(history.Create))
}

// Salted is the journal with this salt, unless it has one.
func (j Journal) Salted(salt string) Journal {
	if j.Salt == "" {
		j.Salt = salt
	}
	return j
}

// Accepting lets these configuration tags count as current until the declared
// configuration changes.
func (j Journal) Accepting(tags []string) Journal {
	j.AcceptedConfigurations, j.AcceptedUnder = slices.Compact(slices.Sorted(slices.Values(tags))), ""
	return j
}

// NeedsCluster reports whether decisions about the pool depend on a cluster: it has
// nodes, or had some, and what was done to them is to be undone, or their tokens are to
// be deleted. A cluster that can't be asked is asked for marks once.
func (j Journal) NeedsCluster(d spotpool.Declaration) bool {
	return d.Nodes != nil || j.Undoes() || j.AnyNode()
}

// Undoes reports whether nodes are to be let go, or tokens to be deleted, however long the
// cluster is away.
func (j Journal) Undoes() bool { return len(j.Tokens) > 0 || j.AnyDrained() }

// NeverJoining says why replacing is suspended until a person releases it, or a node
// joins after all, or the configuration changes; empty if it is not for that.
func (j Journal) NeverJoining(d spotpool.Declaration) string {
	if d.Nodes == nil {
		return ""
	}
	return node.Suspended(j.NeverJoined, node.Count{}, node.Count{})
}

// WithoutReported leaves out the events that the history has by now.
func (j Journal) WithoutReported(has func(history.Event) bool) Journal {
	if left := history.Unreported(j.Unreported, has); len(left) < len(j.Unreported) {
		if j.Unreported = left; left == nil {
			j.LeftOut = 0
		}
	}
	return j
}

// Stored is the journal as it is to be stored: events that are more than it keeps are
// left out, and counted.
func (j Journal) Stored() Journal {
	kept, leftOut := history.Newest(j.Unreported)
	j.Unreported, j.LeftOut = kept, j.LeftOut+leftOut
	return j
}

// with adds events to those that are to be reported. What is not known to be of a pool
// reports nothing.
func (j Journal) with(events ...history.Event) Journal {
	if j.UID != "" {
		j.Unreported = slices.Concat(j.Unreported, events)
	}
	return j
}

// withFleet is the journal with a changed fleet, and the events of the change.
func (j Journal) withFleet(f fleet.Fleet, events []history.Event) Journal {
	j.Fleet = f
	return j.with(events...)
}

// about is what events of the pool tell.
func (j Journal) about(at time.Time, reasons ...string) history.About {
	return history.About{At: at, Object: j.Object, ObjectUID: j.UID, Reasons: reasons}
}
