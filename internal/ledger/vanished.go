package ledger

// overdue is how long after its deletion timestamp, which includes the grace
// period, a pod may take to be gone.
const overdue Time = 30_000

// Vanished returns the open records of pods that are not present any more.
func (l *Ledger) Vanished(present func(uid string) bool) []Record {
	var vanished []Record
	for r := range l.All() {
		if r.Open() && !present(r.UID) {
			vanished = append(vanished, *r)
		}
	}
	return vanished
}

// CloseVanished closes the open records of pods that are not present any more,
// and returns them as they are then. Evidence says when the pod's instance or
// node ended or what an Event told, by a final End or one whose source is Event;
// the zero End is none. Without evidence, the pod ended somewhere between the
// last run, which still saw it, and now; and where its deletion was asked for, no
// later than that was due, unless the last run still saw it after that.
//
// Each end lies in [start, now]. That of an instance or a node may lie before
// the last run, since a pod lingers when its machine is gone; it is no later
// than the pod's deletion timestamp, unless the last run still saw it after
// that. Where the evidence is itself a range, the end is no earlier than the last
// run. An Event comes at the beginning of the end, so it is no earlier than
// the last run, and its range is how long the end may have taken.
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
	held := min(max(lastRun, r.Start.At, r.End.Earliest), now) // it was seen to hold until then
	switch rank := endRank(evidence.Source); {
	case evidence.At < r.Start.At || rank <= openRank || evidence.Source == Estimated: // of nothing, or of an earlier life
		return End{Earliest: held, At: r.goneBy(held, now), Source: Estimated}
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

// goneBy is up to when a pod that is gone by now may have held, where it was seen
// to hold at a moment.
func (r *Record) goneBy(held, now Time) Time {
	if due := r.Deletion + overdue; r.Deletion != 0 && due >= held {
		return min(due, now)
	}
	return now
}
