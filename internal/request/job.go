package request

import (
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// State is the state of a job.
type State string

// The states of a job.
const (
	Queued    State = "queued"    // no run has claimed it
	Running   State = "running"   // a run does it, or was killed while it did
	Succeeded State = "succeeded" // it was done
	Failed    State = "failed"    // it cannot be done, for its reasons
	Expired   State = "expired"   // no run claimed it in time
	Canceled  State = "canceled"  // it was canceled before a run claimed it
)

// States returns all states of a job.
func States() []State { return []State{Queued, Running, Succeeded, Failed, Expired, Canceled} }

// The lifetimes of a job's document.
const (
	QueuedLifetime   = 24 * time.Hour     // after that, a queued job expires
	FinishedLifetime = 7 * 24 * time.Hour // after that, a finished job is deleted
)

// transitions are the states that may follow a state. A running job is claimed again if the run
// that claimed it was killed.
var transitions = map[State][]State{
	Queued:  {Running, Expired, Canceled},
	Running: {Running, Succeeded, Failed},
}

// Finished reports whether no state follows.
func (s State) Finished() bool { return len(transitions[s]) == 0 }

// Job is a request that the next run does.
type Job struct {
	// The ID of the job.
	ID string `json:"id"`
	// The type of the request: `run`, `grant`, `hold`, `stock_pool` or `delete`.
	Type Type `json:"type"`
	// The object, such as `budget/team-a` or `stock_pool/ml/g1`. `run` for a run.
	Object string `json:"object"`
	// `queued`, `running`, `succeeded`, `failed`, `expired` or `canceled`.
	State State `json:"state"`
	// The requester.
	RequestedBy string `json:"requested_by"`
	// When it was submitted.
	RequestedAt time.Time `json:"requested_at"`
	// When its state last changed.
	UpdatedAt time.Time `json:"updated_at"`
	// When it expires if no run claims it. A finished job is deleted then.
	ExpiresAt time.Time `json:"expires_at,omitzero"`
	// The request. The values of environment variables are hidden.
	Request Request `json:"request"`
	// The ID of the run that did it.
	RunID string `json:"run_id,omitempty"`
	// The UID of the stock pool, or the ID of the grant or the hold. It is recorded before the job is
	// done, so that a run after a kill recognizes what was done.
	EffectID string `json:"effect_id,omitempty"`
	// The effects of the job, or why it failed.
	Reasons reason.Reasons `json:"reasons,omitempty"`
	// Why it failed.
	Error *history.Error `json:"error,omitempty"`
	// The IDs of its events in the history.
	EventIDs []string `json:"event_ids,omitempty"`
}

// For returns the job as a reader of it may see it. Texts of the request are shown to its requester.
func (j Job) For(reader reason.Renderer, name string) Job {
	var why reason.Reason
	if len(j.Reasons) > 0 {
		why = j.Reasons[0]
	}
	j.Error, j.Reasons = j.Error.For(reader, why), reader.RedactAll(j.Reasons)
	if j.RequestedBy == name {
		return j
	}
	if g := j.Request.Grant; g != nil {
		seen := *g
		seen.Reason, j.Request.Grant = reader.Hide(g.Reason), &seen
	}
	if h := j.Request.Hold; h != nil {
		seen := *h
		seen.Reason, j.Request.Hold = reader.Hide(h.Reason), &seen
	}
	return j
}

// New returns a queued job.
func New(id string, r Request, requester string, now time.Time) Job {
	if r.StockPool != nil {
		named := r.StockPool.WithDefaults(id)
		r.StockPool = &named
	}
	now = now.UTC().Truncate(time.Second)
	return Job{
		ID: id, Type: r.Type(), Object: r.Object(), State: Queued, RequestedBy: requester, RequestedAt: now, UpdatedAt: now,
		ExpiresAt: now.Add(QueuedLifetime), Request: r,
	}
}

// To returns the job in another state. The error is a *StateError if that state cannot follow.
func (j Job) To(next State, now time.Time) (Job, error) {
	if !slices.Contains(transitions[j.State], next) {
		return j, &StateError{ID: j.ID, State: j.State, Next: next}
	}
	now = now.UTC().Truncate(time.Second)
	j.State, j.UpdatedAt, j.ExpiresAt = next, now, time.Time{}
	if next.Finished() {
		j.ExpiresAt = now.Add(FinishedLifetime)
		j = j.Public() // nothing needs the values any more
	}
	return j, nil
}

// JobList is jobs, the latest first.
type JobList struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The jobs.
	Jobs []Job `json:"jobs"`
	// Jobs that cannot be read.
	Warnings reason.Reasons `json:"warnings"`
}

// NewJobList returns a list of jobs. The errors are about jobs that cannot be read.
func NewJobList(jobs []Job, unreadable ...error) JobList {
	list := JobList{SchemaVersion: 1, Jobs: append([]Job{}, jobs...), Warnings: reason.Reasons{}}
	for _, err := range unreadable {
		list.Warnings = append(list.Warnings, reason.Explain(err))
	}
	return list
}

// Overdue reports whether a job is past its expiry: a queued one then expires, and a finished one is
// deleted.
func (j Job) Overdue(now time.Time) bool { return !j.ExpiresAt.IsZero() && !now.Before(j.ExpiresAt) }

// Hidden stands for the value of an environment variable.
const Hidden = "(hidden)"

// Public returns the job without the values of environment variables.
func (j Job) Public() Job {
	if j.Request.StockPool == nil || len(j.Request.StockPool.Env) == 0 {
		return j
	}
	pool := *j.Request.StockPool
	env := make(map[string]string, len(pool.Env))
	for name := range pool.Env {
		env[name] = Hidden
	}
	pool.Env = env
	j.Request.StockPool = &pool
	return j
}
