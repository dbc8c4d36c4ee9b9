package request

import (
	"errors"
	"fmt"

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

// Error names the object and its address.
func (e *ManagedError) Error() string {
	return fmt.Sprintf("%s is managed by Terraform (%s), and a request cannot change it: change it there", e.Object, e.Address)
}

// ExistsError reports that the requested object exists, and the API manages it.
type ExistsError struct {
	Object string
	Owner  string
}

// Error names the object and its owner.
func (e *ExistsError) Error() string {
	return fmt.Sprintf("%s exists already, requested by %s: request another name", e.Object, e.Owner)
}

// LimitError reports that a request exceeds the limits of a namespace.
type LimitError struct {
	Namespace           string
	Limits              Limits
	Existing, Requested Size
}

// Error has the numbers.
func (e *LimitError) Error() string {
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
	return fmt.Sprintf("the namespace %s allows %s for requested stock pools: %s %s, and this request adds %s",
		e.Namespace, what, e.Existing, wording.Plural(e.Existing.Pods, "exists", "exist"), e.Requested)
}
