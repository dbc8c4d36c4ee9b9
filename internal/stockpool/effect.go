package stockpool

import (
	"fmt"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// Begin is the journal to write before a decision is carried out: what a kill leaves
// done of it is told by the next look.
func (j Journal) Begin(d Declaration, of Decision, seen *appsv1.Deployment, now time.Time) Journal {
	j = j.clone()
	j.AboutTo, j.AboutFrom = j.event(d, of, now), ""
	if j.AboutTo != nil {
		j.AboutFrom = Fingerprint(seen)
	}
	return j
}

// event is what a decision tells once it is done; nil where that is nothing.
func (j Journal) event(d Declaration, of Decision, now time.Time) *history.Event {
	about := j.about(d, now, of.Reasons...)
	var e history.Event
	switch of.Kind {
	case KindMend:
		e = about.Workload(history.Mend, j.workload(d), now)
	case KindScale:
		about.Reasons = append([]string{fmt.Sprintf("from %d to %d pods", of.Was, of.Replicas)}, of.Reasons...)
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

// Did is the journal after an application, by the API server's answer.
func (j Journal) Did(d Declaration, of Decision, answer *appsv1.Deployment, now time.Time) Journal {
	j = j.clone()
	j.Applied, j.Generation, j.Replicas = d.Sum(j.Container), d.Generation, of.Replicas
	j.Answer, j.SyncedAt = Fingerprint(answer), now
	j.done()
	return j
}

// Lost notes, before another is created, that somebody deleted the Deployment: it is
// told once the other is there.
func (j Journal) Lost(d Declaration, now time.Time) Journal {
	if j.DeploymentUID == "" {
		return j
	}
	j = j.clone()
	e := j.about(d, now, "somebody deleted its Deployment").Workload(history.Mend, j.workload(d), time.Time{})
	j.AboutTo, j.AboutFrom = &e, ""
	return j
}

// befell looks whether what a run that was cut short was about to do was done: the
// Deployment is then another than that run saw, and the pool's own field manager wrote
// it last no sooner than that.
func (d *decider) befell() {
	j := &d.plan.Journal
	if j.AboutTo == nil || j.Opened != "" { // what is created is told of once it is owned
		return
	}
	if d.own() && Fingerprint(d.Seen.Deployment) != j.AboutFrom && !appliedAt(d.Seen.Deployment).Before(j.AboutTo.At) {
		j.done()
		d.begun = true
	}
	j.AboutTo, j.AboutFrom = nil, ""
}

// appliedAt is when the pool's field manager last wrote a Deployment; zero where it
// never did.
func appliedAt(of *appsv1.Deployment) (at time.Time) {
	for _, entry := range of.ManagedFields {
		if entry.Manager == FieldManager && entry.Time != nil && entry.Time.After(at) {
			at = entry.Time.Time
		}
	}
	return at
}

// pauses notes since when a budget has the pool stopped.
func (d *decider) pauses() {
	j := &d.plan.Journal
	has := d.own() && replicasOf(d.Seen.Deployment) > 0
	switch {
	case d.pausing() != nil && d.own() && !has && j.PausedSince == nil:
		now := d.Now
		j.PausedSince = &now
	case d.pausing() == nil && has && d.plan.Replicas <= replicasOf(d.Seen.Deployment):
		j.PausedSince = nil
	}
}
