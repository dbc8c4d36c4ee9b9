package ledger

// overdue is how long after its deletion timestamp, which includes the grace period, a pod may take
// to disappear.
const overdue Time = 30_000

// Vanished returns the open records of pods that are no longer present.
func (l *Ledger) Vanished(present func(uid string) bool) []Record {
	var vanished []Record
	for r := range l.All() {
		if r.Open() && !present(r.UID) {
			vanished = append(vanished, *r)
		}
	}
	return vanished
}

// CloseVanished closes the open records of pods that are no longer present, and returns them.
//
// Evidence returns the end of the pod's instance or node, or that of an Event: a final End or one
// with source Event. The zero End means none. Without evidence, the pod ended between the last run
// and now. If its deletion was requested, it ended no later than that was due, unless the last run
// still observed it after that.
//
// Each end lies in [start, now]. The end of an instance or a node may lie before the last run,
// since a pod lingers after its node is gone. It is no later than the pod's deletion timestamp,
// unless the last run still observed the pod after that. If the evidence is a range, the end is no
// earlier than the last run. An Event comes when the termination begins. Its end is no earlier than
// the last run, and its range is how long the termination may have taken.
func (l *Ledger) CloseVanished(present func(uid string) bool, evidence func(*Record) End, lastRun, now Time) []Record {
	vanished := l.Vanished(present)
	for n := range vanished {
		r := &vanished[n]
		var known End
		if evidence != nil {
			known = evidence(r)
		}
		r.End = endOfVanished(r, known, lastRun, now)
		if err := l.Merge(*r); err == nil { // it was merged before, and its end is valid
			*r, _ = l.Get(r.UID)
		}
	}
	return vanished
}

func endOfVanished(r *Record, evidence End, lastRun, now Time) End {
	now = max(now, r.Start.At)
	held := min(max(lastRun, r.Start.At, r.End.Earliest), now) // the pod was observed until then
	switch rank := endRank(evidence.Source); {
	case evidence.At < r.Start.At || rank <= openRank || evidence.Source == Estimated: // no evidence, or of an earlier pod
		return End{Earliest: held, At: r.latestEnd(held, now), Source: Estimated}
	case evidence.Source == Event:
		at := min(max(evidence.At, held), now)
		return End{Earliest: min(max(evidence.Earliest, held), at), At: at, Source: Event}
	default:
		if evidence.Estimated() {
			at := min(max(evidence.At, held), now)
			return End{Earliest: min(max(evidence.Earliest, held), at), At: at, Source: evidence.Source}
		}
		at := min(evidence.At, now)
		if r.Deletion != 0 {
			at = min(at, max(r.Deletion, held))
		}
		return ExactEnd(at, evidence.Source)
	}
}

// latestEnd returns the latest possible end of a pod that was last observed at held.
func (r *Record) latestEnd(held, now Time) Time {
	if due := r.Deletion + overdue; r.Deletion != 0 && due >= held {
		return min(due, now)
	}
	return now
}
