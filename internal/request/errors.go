package request

import (
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// ErrKeyReused reports that an idempotency key was used for another request.
var ErrKeyReused = errors.New("the idempotency key was used for another request: use a new key")

// NotFoundError reports that the store has no job of an ID.
type NotFoundError struct{ ID, Store string }

// Error names the job.
func (e *NotFoundError) Error() string {
	return fmt.Sprintf("the store %s has no job %q: finished jobs are deleted after %d days", e.Store, e.ID, int(FinishedLifetime.Hours()/24))
}

// StateError reports that a state cannot follow the state of a job.
type StateError struct {
	ID          string
	State, Next State
}

// Error names the job and its state.
func (e *StateError) Error() string {
	if e.Next == Canceled {
		return fmt.Sprintf("job/%s is %s: only a queued job can be canceled", e.ID, e.State)
	}
	return fmt.Sprintf("job/%s is %s, and cannot become %s", e.ID, e.State, e.Next)
}

// FullError reports that too many jobs are queued, or that too many of one requester are kept.
type FullError struct {
	Queued int
	// Kept is the number of jobs of the requester, finished ones included, if that is the cause.
	Kept int
}

// Error names the number of jobs.
func (e *FullError) Error() string {
	if e.Kept > 0 {
		return fmt.Sprintf("%d of your jobs are kept, which is the maximum: finished jobs are deleted after %d days", e.Kept, int(FinishedLifetime.Hours()/24))
	}
	return fmt.Sprintf("%d jobs are queued, which is the maximum: run gpupool reconcile, and submit the request again", e.Queued)
}

// ManagedError reports that Terraform manages the object of a request.
type ManagedError struct {
	Object  string // "stock_pool/ml/g1"
	Address string // "gpupool_stock_pool.g1", or the type and the name
}

// Because names the object and its address.
func (e *ManagedError) Because() reason.Reason {
	return reason.ManagedByTerraform(reason.Object(e.Object), reason.Word(e.Address))
}

// Error is Because as text.
func (e *ManagedError) Error() string { return e.Because().String() }

// ExistsError reports that the requested object exists, and the API manages it.
type ExistsError struct {
	Object string
	Owner  string
}

// Because names the object and its owner.
func (e *ExistsError) Because() reason.Reason {
	return reason.RequestedAlready(reason.Object(e.Object), reason.Word(e.Owner))
}

// Error is Because as text.
func (e *ExistsError) Error() string { return e.Because().String() }

// LimitError reports that a request exceeds the limits of a namespace.
type LimitError struct {
	Namespace           string
	Limits              Limits
	Existing, Requested Size
}

// Error is Because as text.
func (e *LimitError) Error() string { return e.Because().String() }

// Because has the numbers.
func (e *LimitError) Because() reason.Reason {
	what := ""
	if e.Limits.Pods > 0 {
		what = wording.Count(e.Limits.Pods, "pod")
	}
	if e.Limits.GPUs > 0 {
		if what != "" {
			what += " and "
		}
		what += wording.Count(e.Limits.GPUs, "GPU")
	}
	return reason.RequestExceeds(reason.Word(e.Namespace), reason.Word(what), reason.Word(e.Existing.String()), reason.Count(e.Existing.Pods),
		reason.Word(e.Requested.String()))
}
