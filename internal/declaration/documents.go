package declaration

import (
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Phase is the phase of an object's record in the store.
type Phase string

// The phases.
const (
	Creating Phase = "creating" // its creation is incomplete
	Active   Phase = "active"   // it exists
	Deleting Phase = "deleting" // its deletion is incomplete
)

// Record is the record of a declared object in a store.
type Record[D any] struct {
	Phase       Phase     `json:"phase"`
	Declaration D         `json:"declaration"`
	UpdatedAt   time.Time `json:"updated_at"`
	UpdatedBy   string    `json:"updated_by"` // such as "terraform apply"
}

// SpotPool is the record of a spot pool.
type SpotPool = Record[spotpool.Declaration]

// Budget is the record of a budget.
type Budget = Record[budget.Declaration]

// Journal is a spot pool's journal.
type Journal = journal.Journal

// StockPool is the record of a stock pool.
type StockPool = Record[stockpool.Declaration]

// StockJournal is a stock pool's journal.
type StockJournal = stockpool.Journal

// Notification is the record of a notification.
type Notification = Record[notification.Declaration]

// NotificationJournal is a notification's journal.
type NotificationJournal = notification.Journal

// BudgetStatus is the status of a budget by its last run.
type BudgetStatus = budget.Status

// BudgetUsage has measurements of budgets whose statuses the last runs did not change, by UID.
type BudgetUsage struct {
	Budgets map[string]budget.Measurement `json:"budgets"`
}

// PoolStatuses are the statuses of some spot pools, by UID.
type PoolStatuses struct {
	Pools map[string]PoolStatus `json:"pools"`
}

// PoolStatus is the status of a spot pool by its last run.
type PoolStatus struct {
	Pool       string    `json:"pool"`       // "ap-singapore/train"
	Generation int64     `json:"generation"` // of the declaration of that run
	Since      time.Time `json:"since"`      // the first run with this status
	// Capacity, Total and Shortfall are as in spotpool.Counts. Observed is false if they are
	// unknown.
	Observed  bool `json:"observed"`
	Capacity  int  `json:"capacity"`
	Total     int  `json:"total"`
	Shortfall int  `json:"shortfall"`
	// Grows reports that more instances are launching. Why lists them, or the reasons for none.
	Grows bool   `json:"grows"`
	Why   string `json:"why"`
}

// Pauses are workloads that a budget paused, or some of many. The document outlives its budget
// until all are resumed.
type Pauses struct {
	BudgetUID  string  `json:"budget_uid"`
	Budget     string  `json:"budget"` // its name
	ClusterUID string  `json:"cluster_uid"`
	Workloads  []Pause `json:"workloads"`
}

// PausePhase is the phase of a pause.
type PausePhase string

// The phases of a pause. Pausing and Resuming are recorded before the change. Started marks a
// workload that a user resumed, so that later runs do not pause it again.
const (
	Pausing  PausePhase = "pausing"
	Paused   PausePhase = "paused"
	Resuming PausePhase = "resuming"
	Started  PausePhase = "started"
)

// Pause is one workload that a budget paused.
type Pause struct {
	budget.Workload
	Phase PausePhase `json:"phase"`
	// Replicas is the number to restore. A Job has none.
	Replicas int32     `json:"replicas,omitempty"`
	At       time.Time `json:"at"`
	// Labels and PriorityClassName are those of its pod template. Of many labels, only some are
	// kept.
	Labels            map[string]string `json:"labels,omitempty"`
	PriorityClassName string            `json:"priority_class_name,omitempty"`
	// CronJob is the UID of a Job's CronJob.
	CronJob   string    `json:"cron_job,omitempty"`
	CreatedAt time.Time `json:"created_at,omitzero"`
	// Concurrent says that a CronJob may run several Jobs at once.
	Concurrent bool `json:"concurrent,omitempty"`
}

// Grants are temporary extra GPU-hours of a budget.
type Grants struct {
	BudgetUID string `json:"budget_uid"`
	Budget    string `json:"budget"` // its name
	budget.Grants
}

// Holds pause the launches and terminations of a pool for a while.
type Holds struct {
	PoolUID string `json:"pool_uid"`
	Pool    string `json:"pool"` // "ap-singapore/train"
	spotpool.Holds
}

// TombstoneLifetime is the lifetime of a tombstone.
const TombstoneLifetime = 30 * 24 * time.Hour

// Tombstone records that a pool, a budget, a stock pool or a notification was destroyed, so that a stale state does
// not create it again.
type Tombstone struct {
	UID    string `json:"uid"`
	Object string `json:"object"` // "spot_pool/ap-singapore/train", "budget/team-a", "stock_pool/ml/pool-g1"
	// AccountID or ClusterUID is its place.
	AccountID   string    `json:"account_id,omitempty"`
	ClusterUID  string    `json:"cluster_uid,omitempty"`
	DestroyedAt time.Time `json:"destroyed_at"`
	ExpiresAt   time.Time `json:"expires_at"`
	// LeftAt is the last observation of instances that a destroyed pool left.
	LeftAt time.Time `json:"left_at,omitzero"`
}

// PoolTombstone is the tombstone of a pool.
func PoolTombstone(d spotpool.Declaration, now time.Time) Tombstone {
	return Tombstone{UID: d.UID, Object: d.Object(), AccountID: d.AccountID, DestroyedAt: now, ExpiresAt: now.Add(TombstoneLifetime)}
}

// BudgetTombstone is the tombstone of a budget.
func BudgetTombstone(d budget.Declaration, now time.Time) Tombstone {
	return Tombstone{UID: d.UID, Object: d.Object(), ClusterUID: d.ClusterUID, DestroyedAt: now, ExpiresAt: now.Add(TombstoneLifetime)}
}

// StockTombstone is the tombstone of a stock pool.
func StockTombstone(d stockpool.Declaration, now time.Time) Tombstone {
	return Tombstone{UID: d.UID, Object: d.Object(), ClusterUID: d.ClusterUID, DestroyedAt: now, ExpiresAt: now.Add(TombstoneLifetime)}
}

// NotificationTombstone is the tombstone of a notification.
func NotificationTombstone(d notification.Declaration, now time.Time) Tombstone {
	return Tombstone{UID: d.UID, Object: d.Object(), DestroyedAt: now, ExpiresAt: now.Add(TombstoneLifetime)}
}

// Expired reports whether the tombstone is no longer needed at now.
func (t Tombstone) Expired(now time.Time) bool { return !now.Before(t.ExpiresAt) }

// State is the newest observed Terraform state of a lineage.
type State struct {
	Lineage string    `json:"lineage"`
	Serial  int64     `json:"serial"`
	SeenAt  time.Time `json:"seen_at"`
}

// Job is a request that a run does, as it is stored.
type Job struct {
	request.Job
	// Hash identifies the request as it was submitted, to compare a repeated one.
	Hash string `json:"request_hash"`
	// Limits are those of the namespace of a requested stock pool.
	Limits request.Limits `json:"limits,omitzero"`
}

// identified returns an error if a declared pool lacks an identity.
func identified(d spotpool.Declaration) error {
	return present("uid", d.UID, "name", d.Name, "region", d.Region, "account_id", d.AccountID)
}

func identifiedBudget(d budget.Declaration) error {
	return present("uid", d.UID, "name", d.Name, "cluster_uid", d.ClusterUID)
}

// identifiedStock returns an error if a declared stock pool lacks an identity.
func identifiedStock(d stockpool.Declaration) error {
	return present("uid", d.UID, "name", d.Name, "namespace", d.Namespace, "cluster_uid", d.ClusterUID)
}

// identifiedNotification returns an error if a declared notification lacks an identity.
func identifiedNotification(d notification.Declaration) error {
	return present("uid", d.UID, "name", d.Name)
}

func (p Phase) validate() error {
	if p != Creating && p != Active && p != Deleting {
		return errors.New("its phase is not creating, active or deleting")
	}
	return nil
}

// validateJournal checks that no launch is repeated with another body, or reuses a number.
func validateJournal(j Journal) error {
	for _, i := range j.Pending {
		r := i.Request
		if err := present("uid", r.UID, "region", r.Region, "token", r.Token); err != nil {
			return fmt.Errorf("an intent: %w", err)
		}
		if r.Sequence < 1 || r.Sequence > j.LastSequence || r.SeqTag < 1 || r.Count < 1 {
			return errors.New("an intent has an invalid sequence or count")
		}
	}
	return nil
}

// validatePauses checks the identity of workloads, and the values that resume them.
func validatePauses(p Pauses) error {
	for _, w := range p.Workloads {
		if err := present("namespace", w.Namespace, "api_version", w.APIVersion, "kind", w.Kind, "name", w.Name, "uid", w.UID); err != nil {
			return fmt.Errorf("a workload: %w", err)
		}
		if w.Phase != Pausing && w.Phase != Paused && w.Phase != Resuming && w.Phase != Started {
			return errors.New("the phase of a workload is not pausing, paused, resuming or started")
		}
		if w.Replicas < 0 {
			return errors.New("a workload has an invalid number of replicas")
		}
	}
	return nil
}

// present takes pairs of a name and a value. Its error names the first empty value.
func present(pairs ...string) error {
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			return fmt.Errorf("it has no %s", pairs[i])
		}
	}
	return nil
}
