package ledger

// provenEnd are the sources of ends that the API server's own clock tells: a pod
// had ended by then, whatever the clock of its node tells later.
var provenEnd = map[Source]bool{StatusWritten: true, SeenTerminal: true}

// limit is what is told of an end where another was known before: no later than
// that, where it is proven.
func (e End) limit(told End) End {
	if provenEnd[e.Source] && !told.Open() {
		told.At = min(told.At, e.At)
		told.Earliest = min(told.Earliest, told.At)
	}
	return told
}

// inferred are the sources of ends that tell when a pod should have ended, or
// began to, rather than when it did. Of a pod that was refused after it ran, as
// when its node restarted, none may tell when that was: it is said to have ended
// where it started.
var inferred = map[Source]bool{Rejected: true, DisruptionTarget: true, NotReady: true, DeletionTimestamp: true, StatusWritten: true}

// afterHeld is what an inferred end says of a pod that is known. What was charged
// already up to the last run that saw it hold is not taken back.
func afterHeld(lastRun Time, old, seen *Record) End {
	if !old.Open() {
		if seen.End.At < old.End.Earliest || old.End.Estimated() && seen.End.At > old.End.At {
			return End{} // what is known stands
		}
		return old.End.limit(seen.End)
	}
	held := min(max(lastRun, old.End.Earliest), seen.Seen)
	if seen.End.At >= held {
		return seen.End
	}
	return End{Earliest: held, At: seen.Seen, Source: Estimated}
}

// contradiction is what it says of an end that the pod held at a moment.
func contradiction(end End, seen Time) End {
	switch {
	case end.Open() || final(endRank(end.Source)) || seen <= end.Earliest:
		return End{}
	case seen < end.At:
		return End{Earliest: seen, At: end.At, Source: end.Source}
	}
	return End{Earliest: seen}
}
