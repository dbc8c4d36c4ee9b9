package stockpool

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// Journal is what is remembered of a stock pool from one run to the next.
type Journal struct {
	PoolUID string `json:"pool_uid"`
	Object  string `json:"object"` // "stock_pool/default/pool-g1"
	// Opened is the token under which a Deployment is being created; empty while none is.
	Opened string `json:"opened,omitempty"`
	// DeploymentUID is that of the pool's own Deployment; empty before it has one.
	DeploymentUID string `json:"deployment_uid,omitempty"`
	// Container is what its container is called.
	Container string `json:"container,omitempty"`
	// Applied is a sum over what was last applied, but for the replicas, and Generation
	// that of the declaration; Answer is a sum over what the API server made of it, and
	// Replicas how many it was.
	Applied    string `json:"applied,omitempty"`
	Generation int64  `json:"generation,omitempty"`
	Answer     string `json:"answer,omitempty"`
	Replicas   int    `json:"replicas,omitempty"`
	// SyncedAt is when the Deployment was last brought to what is declared.
	SyncedAt time.Time `json:"synced_at,omitzero"`
	// HeldSince is since when budgets keep the pool from growing, and PausedSince since
	// when one has it scaled to zero; nil while none does.
	HeldSince   *time.Time `json:"held_since,omitempty"`
	PausedSince *time.Time `json:"paused_since,omitempty"`
	// Pausing says that pods held GPUs then, and that none was observed to hold any since.
	Pausing bool `json:"pausing,omitempty"`
	// CountedBy are the budgets that are exceeded, and count pods of the pool by what these
	// bear beside what is declared.
	CountedBy []string `json:"counted_by,omitempty"`
	// AboutTo is the event of what is about to be done: the next observation shows whether
	// it was.
	AboutTo *history.Event `json:"about_to,omitempty"`
	// AboutFrom is a sum over the Deployment as it was then.
	AboutFrom string `json:"about_from,omitempty"`
	// Unreported are events that the history may lack. LeftOut is how many older ones there
	// was no room for.
	Unreported []history.Event `json:"untold,omitempty"`
	LeftOut    int             `json:"untold_left_out,omitempty"`
}

// Of is the journal as that of a pool.
func (j Journal) Of(d Declaration) Journal {
	j.PoolUID, j.Object = d.UID, d.Object()
	return j
}

// Created reports that the pool was declared.
func (j Journal) Created(d Declaration, now time.Time) Journal {
	j = j.Of(d)
	j.report(j.about(d, now).Declaration(history.Create))
	return j
}

// Updated reports that its declaration changed.
func (j Journal) Updated(d Declaration, now time.Time) Journal {
	j = j.Of(d)
	j.report(j.about(d, now).Updated(d.Generation))
	return j
}

// Open writes down that a Deployment is about to be created.
func (j Journal) Open(token string) Journal {
	j.Opened, j.DeploymentUID, j.Container = token, "", ""
	j.Applied, j.Answer, j.Replicas = "", "", 0
	return j
}

// Own writes down which Deployment is the pool's own, before anything is applied to it.
func (j Journal) Own(uid, container string) Journal {
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

// report adds an event to those that the history may lack, in a slice that no other journal has.
func (j *Journal) report(e history.Event) { j.Unreported = append(slices.Clip(j.Unreported), e) }

func (j Journal) about(d Declaration, at time.Time, reasons ...string) history.About {
	return history.About{At: at, Object: d.Object(), ObjectUID: d.UID, ClusterUID: d.ClusterUID, Reasons: reasons}
}

// workload is the pool's Deployment as events name it.
func (j Journal) workload(d Declaration) history.Identity {
	return history.Identity{Namespace: d.Namespace, Name: "Deployment/" + d.Name, UID: j.DeploymentUID}
}

// Destroyed are the events that the history may lack of a pool that is destroyed, with
// that one.
func (j Journal) Destroyed(d Declaration, at time.Time) []history.Event {
	j = j.Of(d)
	j.report(j.about(d, at).Declaration(history.Destroy))
	return j.Unreported
}
