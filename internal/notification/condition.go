package notification

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// endings are the kinds of events that end a lasting condition, with those that begin it.
var endings = map[history.Kind]history.Kind{
	history.Recovered: history.Exceeded, history.GateOpened: history.GateClosed, history.Unsuspend: history.Suspend,
	history.Unfreeze: history.Frozen, history.Withdrawn: history.Notice,
}

// condition returns the lasting condition that an event begins or ends.
func condition(e *history.Event) (of string, ends bool) {
	kind := e.Kind
	if begins, is := endings[kind]; is {
		kind, ends = begins, true
	}
	for _, begins := range endings {
		if kind == begins {
			return ConditionOf(e.Object, kind) + instanceOf(e), ends
		}
	}
	if kind.Trouble() {
		return ConditionOf(e.Object, kind), false
	}
	return "", false
}

// instanceOf separates the notices of several instances of one pool.
func instanceOf(e *history.Event) string {
	if (e.Kind == history.Notice || e.Kind == history.Withdrawn) && len(e.InstanceIDs) == 1 {
		return "/" + e.InstanceIDs[0]
	}
	return ""
}

// How long an alert fires without another message.
const (
	// EventLifetime is that of an event that only happens.
	EventLifetime    = 15 * time.Minute
	shortestLifetime = 2 * time.Hour // covers hourly runs, also after several runs by hand
	longestLifetime  = 7 * 24 * time.Hour
	unknownLifetime  = 24 * time.Hour // as long as few runs are known
	// lifetimeIntervals is how many intervals between runs a lifetime covers.
	lifetimeIntervals = 3
	knownRuns         = 4
)

// Lifetime returns how long the alert of a lasting condition fires without another message. It covers
// three times the longest interval between the last runs, which began at these times.
func Lifetime(starts []time.Time, now time.Time) time.Duration {
	longest := time.Duration(0)
	for n, at := range starts {
		next := now
		if n+1 < len(starts) {
			next = starts[n+1]
		}
		longest = max(longest, next.Sub(at))
	}
	shortest := shortestLifetime
	if len(starts) < knownRuns {
		shortest = unknownLifetime
	}
	return min(max(lifetimeIntervals*min(longest, longestLifetime), shortest), longestLifetime)
}
