package ledger

// provenEnd are the sources that go by the API server's clock: the pod had ended by then, whatever
// its node's clock says later.
var provenEnd = map[Source]bool{StatusWritten: true, SeenTerminal: true}

// limit caps a reported end at the known one if that is proven.
func (e End) limit(told End) End {
	if provenEnd[e.Source] && !told.Open() {
		told.At = min(told.At, e.At)
		told.Earliest = min(told.Earliest, told.At)
	}
	return told
}

// inferred are the sources that say when a pod should have ended, or began to, rather than when it
// did. If a kubelet rejects a pod that ran before, as after a restart of its node, the source may
// be unknown. The pod's end is then its start.
var inferred = map[Source]bool{Rejected: true, DisruptionTarget: true, NotReady: true, DeletionTimestamp: true, StatusWritten: true}

// inferredEnd returns the end of a known pod from an inferred one. It keeps what was already charged
// up to the last run that observed the pod.
func inferredEnd(lastRun Time, old, seen *Record) End {
	if !old.Open() {
		if seen.End.At < old.End.Earliest || old.End.Estimated() && seen.End.At > old.End.At {
			return End{} // keep the known end
		}
		return old.End.limit(seen.End)
	}
	held := min(max(lastRun, old.End.Earliest), seen.Seen)
	if seen.End.At >= held {
		return seen.End
	}
	return End{Earliest: held, At: seen.Seen, Source: Estimated}
}

// contradiction returns an end, changed by the observation that the pod still held its GPUs.
func contradiction(end End, seen Time) End {
	switch {
	case end.Open() || final(endRank(end.Source)) || seen <= end.Earliest:
		return End{}
	case seen < end.At:
		return End{Earliest: seen, At: end.At, Source: end.Source}
	}
	return End{Earliest: seen}
}
