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

// clampTo moves an end to a time until which the pod is known to have held its GPUs. Kubelets
// report the ends of containers late, by their own clocks, and a compromised one reports anything.
func (e End) clampTo(held Time) End {
	return End{Earliest: max(e.Earliest, held), At: max(e.At, held), Source: e.Source}
}

// statusLag is how long after a container's end its status may still read "Running". It is a second or
// two on any node, and up to ten seconds if its kubelet is busy.
const statusLag Time = 10_000

// reported says that the kubelet reported the end itself.
func (e End) reported() bool { return e.Source == Rejected || e.Source == ContainerFinished }

// clampToRead moves an end to a read of the pod's status that showed it with its GPUs, or to a worse end. A reported
// end may be a little earlier than its status arrived. A worse end may already be such a read, and no longer say so. So
// the lag is the same for both: the order of merges makes no difference.
func (e End) clampToRead(at Time) End {
	if e.reported() {
		at -= statusLag
	}
	return e.clampTo(at)
}

// heldUntil returns until when a known pod certainly held its GPUs: the last run, which observed
// it, or the earliest time of its known end.
func (l *Ledger) heldUntil(old, seen *Record) Time {
	if !old.Open() {
		return old.End.Earliest
	}
	return min(max(l.Header.LastRun, old.End.Earliest), seen.Seen)
}

// misreported is by how much the clocks of a cluster may differ, and by how much a kubelet may
// report an end late.
const misreported Time = 5 * 60_000

// Contradicts returns until when a pod certainly held its GPUs if its kubelet reports a much earlier end of
// its containers; zero otherwise.
func (l *Ledger) Contradicts(r *Record) Time {
	old, known := l.Get(r.UID)
	if !known || r.End.Source != ContainerFinished {
		return 0
	}
	if held := l.heldUntil(&old, r); r.End.At < held-misreported {
		return held
	}
	return 0
}

// inferred are the sources that say when a pod should have ended, or began to, rather than when it
// did. If a kubelet rejects a pod that was accepted before, as after a restart of its node, the
// source may be unknown. The pod's end is then its start.
var inferred = map[Source]bool{Rejected: true, DisruptionTarget: true, NotReady: true, DeletionTimestamp: true, StatusWritten: true}

// inferredEnd returns the end of a known pod from an inferred one. It keeps what was already charged
// up to the last run that observed the pod.
func inferredEnd(held Time, old, seen *Record) End {
	if !old.Open() {
		if seen.End.At < old.End.Earliest || old.End.Estimated() && seen.End.At > old.End.At {
			return End{} // keep the known end
		}
		return old.End.limit(seen.End)
	}
	if seen.End.At >= held {
		return seen.End
	}
	return End{Earliest: held, At: seen.Seen, Source: Estimated}
}

// contradiction returns an end, changed by the observation that the pod still held its GPUs.
func contradiction(end End, seen Time) End {
	switch {
	case end.Open() || end.final() || seen <= end.Earliest:
		return End{}
	case seen < end.At:
		return End{Earliest: seen, At: end.At, Source: end.Source}
	}
	return End{Earliest: seen}
}

// observedUntil returns the end of a pod that another ledger's last run still observed.
func (e End) observedUntil(lastRun Time) End {
	if e.final() {
		return e.clampToRead(lastRun)
	}
	if later := contradiction(e, lastRun); later != (End{}) {
		return later
	}
	return e
}
