package stockpool

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Journal is the state of a stock pool that is kept between runs.
type Journal struct {
	PoolUID string `json:"pool_uid"`
	Object  string `json:"object"` // "stock_pool/default/pool-g1"
	// Opened is the token of a creation in progress; empty if there is none.
	Opened string `json:"opened,omitempty"`
	// DeploymentUID is the UID of the pool's own Deployment; empty before it has one.
	DeploymentUID string `json:"deployment_uid,omitempty"`
	Container     string `json:"container,omitempty"`
	// Applied hashes what was last applied, except for the replicas; Answer hashes the
	// response. Generation and Replicas are those of that application.
	Applied    string `json:"applied,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Answer     string `json:"answer,omitempty"`
	Replicas   int    `json:"replicas,omitempty"`
	// SyncedAt is when the Deployment was last brought in sync.
	SyncedAt time.Time `json:"synced_at,omitzero"`
	// HeldSince is since when budgets block growth, and PausedSince since when one has the pool
	// scaled to zero; nil if none does.
	HeldSince   *time.Time `json:"held_since,omitempty"`
	PausedSince *time.Time `json:"paused_since,omitempty"`
	// Pausing reports that pods held GPUs at the pause, and may still hold them.
	Pausing bool `json:"pausing,omitempty"`
	// CountedBy are the exceeded budgets that count pods of the pool by undeclared labels.
	CountedBy []string `json:"counted_by,omitempty"`
	// AboutTo is the event of what is about to be done. The next observation shows whether it
	// was.
	AboutTo *history.Event `json:"about_to,omitempty"`
	// AboutFrom is the fingerprint of the Deployment before that.
	AboutFrom string `json:"about_from,omitempty"`
	// Unreported are events that the history may lack. LeftOut counts older ones that had no
	// room.
	Unreported []history.Event `json:"unreported,omitempty"`
	LeftOut    int             `json:"unreported_left_out,omitempty"`
}

// Of returns the journal with the pool's identity.
func (j Journal) Of(d Declaration) Journal {
	j.PoolUID, j.Object = d.UID, d.Object()
	return j
}

// RecordCreate adds the event of the pool's creation.
func (j Journal) RecordCreate(d Declaration, now time.Time) Journal {
	j = j.Of(d)
	about := j.about(d, now)
	if d.Requested() {
		about.Reasons = reason.Reasons{reason.RequestedBy(reason.Word(d.Owner), reason.Instant{Time: d.ExpiresAt.UTC()})}
	}
	j.report(about.Declaration(history.Create))
	return j
}

// RecordUpdate adds the event of a changed declaration.
func (j Journal) RecordUpdate(d Declaration, now time.Time) Journal {
	j = j.Of(d)
	j.report(j.about(d, now).Updated(d.Generation))
	return j
}

// BeginCreate records that a Deployment is about to be created.
func (j Journal) BeginCreate(token string) Journal {
	j.Opened, j.DeploymentUID, j.Container = token, "", ""
	j.Applied, j.Answer, j.Replicas = "", "", 0
	return j
}

// RecordOwner records which Deployment is the pool's own, before anything is applied to it.
func (j Journal) RecordOwner(uid, container string) Journal {
	j.Opened, j.DeploymentUID, j.Container = "", uid, container
	j.Applied, j.Answer, j.Replicas = "", "", 0
	j.done()
	return j
}

func (j *Journal) done() {
	if j.AboutTo != nil {
		j.report(*j.AboutTo)
	}
	j.AboutTo, j.AboutFrom = nil, ""
}

// WithoutReported removes events that the history has.
func (j Journal) WithoutReported(has func(history.Event) bool) Journal {
	if left := history.Unreported(j.Unreported, has); len(left) < len(j.Unreported) {
		if j.Unreported = left; left == nil {
			j.LeftOut = 0
		}
	}
	return j
}

// Stored returns the journal as it is stored. It drops events that exceed its room, and counts
// them.
func (j Journal) Stored() Journal {
	kept, leftOut := history.Newest(j.Unreported)
	j.Unreported, j.LeftOut = kept, j.LeftOut+leftOut
	return j
}

// report appends to a new slice, which no other journal shares.
func (j *Journal) report(e history.Event) { j.Unreported = append(slices.Clip(j.Unreported), e) }

func (j Journal) about(d Declaration, at time.Time, reasons ...reason.Reason) history.About {
	return history.About{At: at, Object: d.Object(), ObjectUID: d.UID, ClusterUID: d.ClusterUID, Reasons: reasons}
}

func (j Journal) workload(d Declaration) history.Identity {
	return history.Identity{Namespace: d.Namespace, Name: "Deployment/" + d.Name, UID: j.DeploymentUID}
}

// DestroyEvents returns the events that the history may lack of a destroyed pool, including the
// destroy.
func (j Journal) DestroyEvents(d Declaration, at time.Time) []history.Event {
	j = j.Of(d)
	j.report(j.about(d, at).Declaration(history.Destroy))
	return j.Unreported
}
