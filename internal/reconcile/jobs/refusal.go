package jobs

import (
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// Refusal is why a request is refused, however often it is repeated.
type Refusal string

// The refusals.
const (
	Invalid  Refusal = "invalid"  // the request is malformed
	Conflict Refusal = "conflict" // with an object, or with another job
	Exceeds  Refusal = "exceeds"  // the limits of its namespace
	Full     Refusal = "full"     // the queue, for the time being
	Absent   Refusal = "absent"   // the object, or the job
)

// RefusalOf returns the refusal that an error reports; empty if it reports none.
func RefusalOf(err error) Refusal {
	switch {
	case is[*request.InvalidError](err):
		return Invalid
	case is[*request.ManagedError](err), is[*request.ExistsError](err), is[*request.StateError](err), is[*exception.RefusedError](err),
		errors.Is(err, request.ErrKeyReused):
		return Conflict
	case is[*request.LimitError](err):
		return Exceeds
	case is[*request.FullError](err):
		return Full
	case is[*request.NotFoundError](err), is[*record.AbsentError](err):
		return Absent
	}
	return ""
}

func is[E error](err error) bool {
	var of E
	return errors.As(err, &of)
}
