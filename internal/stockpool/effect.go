package stockpool

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Begin returns the journal to write before a decision is carried out. After a kill, the next
// observation reports what was done.
func (j Journal) Begin(d Declaration, of Decision, live *appsv1.Deployment, now time.Time) Journal {
	j.AboutTo, j.AboutFrom = j.event(d, of, now), ""
	if j.AboutTo != nil {
		j.AboutFrom = fingerprint(live)
	}
	return j
}

// event returns what to report of a decision once it is done; nil for nothing.
func (j Journal) event(d Declaration, of Decision, now time.Time) *history.Event {
	about := j.about(d, now, of.Reasons...)
	var e history.Event
	switch of.Kind {
	case KindRevert:
		e = about.Workload(history.Revert, j.workload(d), now)
	case KindScale:
		about.Reasons = append(reason.Reasons{reason.Scaled(reason.Count(of.Was), reason.Count(of.Replicas))}, of.Reasons...)
		e = about.Workload(history.Scale, j.workload(d), now)
	case KindPause:
		e = about.Workload(history.Pause, j.workload(d), now)
	case KindResume:
		since := now
		if j.PausedSince != nil {
			since = *j.PausedSince
		}
		e = about.Workload(history.Resume, j.workload(d), since)
	default:
		return nil
	}
	return &e
}

// RecordApply returns the journal after an application, with the API server's response.
func (j Journal) RecordApply(d Declaration, of Decision, answer *appsv1.Deployment, now time.Time) Journal {
	j.Applied, j.Generation, j.Replicas = d.Hash(j.Container), d.Generation, of.Replicas
	j.Answer, j.SyncedAt = fingerprint(answer), now
	j.done()
	return j
}

// RecordScale returns the journal after only the replicas of live changed. Other drift of it is
// still to be found.
func (j Journal) RecordScale(of Decision, live *appsv1.Deployment) Journal {
	if !j.Drifted(live) {
		scaled := live.DeepCopy()
		scaled.Spec.Replicas = new(int32(of.Replicas)) //nolint:gosec // of a valid declaration
		j.Answer = fingerprint(scaled)
	}
	j.Replicas = of.Replicas
	j.done()
	return j
}

// RecordLoss records that the Deployment was deleted, before another one is created. It is reported
// once the other one exists.
func (j Journal) RecordLoss(d Declaration, now time.Time) Journal {
	if j.DeploymentUID == "" {
		return j
	}
	e := j.about(d, now, reason.DeploymentDeleted()).Workload(history.Revert, j.workload(d), time.Time{})
	j.AboutTo, j.AboutFrom = &e, ""
	return j
}

// Recover reports what an interrupted run did, and whether it applied the declaration. If so,
// the Deployment differs from what that run observed, and the pool's field manager wrote it
// last.
func (j Journal) Recover(own *appsv1.Deployment) (_ Journal, applied bool) {
	if j.AboutTo == nil || j.Opened != "" { // a creation is reported once its UID is recorded
		return j, false
	}
	if applied = own != nil && fingerprint(own) != j.AboutFrom && !appliedAt(own).Before(j.AboutTo.At); applied {
		j.done()
	}
	j.AboutTo, j.AboutFrom = nil, ""
	return j, applied
}

// appliedAt returns when the pool's field manager last wrote a Deployment; zero if never.
func appliedAt(of *appsv1.Deployment) (at time.Time) {
	for _, entry := range of.ManagedFields {
		if entry.Manager == FieldManager && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// RecordGate records since when budgets block growth, with their reasons; nil if none does.
func (j Journal) RecordGate(d Declaration, reasons reason.Reasons, now time.Time) Journal {
	switch {
	case reasons == nil && j.HeldSince != nil:
		j.report(j.about(d, now).Since(history.GateOpened, *j.HeldSince))
		j.HeldSince = nil
	case reasons != nil && j.HeldSince == nil:
		j.report(j.about(d, now, reasons...).Since(history.GateClosed, now))
		j.HeldSince = &now
	}
	return j
}

// RecordPaused reports that no pod of the paused pool holds GPUs any more.
func (j Journal) RecordPaused(d Declaration, now time.Time) Journal {
	j.report(j.about(d, now).Paused(j.workload(d), *j.PausedSince, history.Done))
	j.Pausing = false
	return j
}

// RecordResponse records the API server's response to an application.
func (j Journal) RecordResponse(of *appsv1.Deployment) Journal {
	j.Answer = fingerprint(of)
	return j
}

// Drifted reports whether a managed field of the Deployment changed since the API server's
// response.
func (j Journal) Drifted(of *appsv1.Deployment) bool { return j.Answer != fingerprint(of) }
