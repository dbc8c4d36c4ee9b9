// Package outcome says what became of decisions: for reports, for JSON, and for
// people who wait.
package outcome

import (
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Outcome is the outcome of a decision, or of a run for an object.
type Outcome string

// The outcomes.
const (
	Done    Outcome = "done"    // it was done
	Planned Outcome = "planned" // a dry run left it out
	Short   Outcome = "short"   // stock, price or quota did not allow it, or a drain is in progress
	Failed  Outcome = "failed"  // it failed
	Skipped Outcome = "skipped" // another process has the lock, or it must not be done now
)

// State is the state of an object whose run ended so; empty of Done, which other things
// decide.
func (o Outcome) State() state.State {
	return map[Outcome]state.State{Planned: state.OutOfSync, Short: state.Short, Failed: state.Failing, Skipped: state.Skipped}[o]
}

// Form is how a decision's verb reads with the outcome: "launched", "could not launch".
func (o Outcome) Form(v wording.Verb) string {
	switch {
	case o == Planned:
		return "would " + v.Base
	case o == Skipped:
		return "did not " + v.Base
	case o == Done, v.Regardless:
		return v.Past
	case o == Short:
		return "could not " + v.Base
	}
	return "failed to " + v.Base
}

// ErrorReport is an error.
type ErrorReport struct {
	// The class of an error of Tencent Cloud or Kubernetes.
	Class errorclass.Class `json:"class,omitempty"`
	// Tencent Cloud's error code.
	Code string `json:"code,omitempty"`
	// The message.
	Message string `json:"message"`
	// Tencent Cloud's request ID, for a support ticket.
	RequestID string `json:"request_id,omitempty"`
	// The remedy, if known.
	Remedy string `json:"remedy,omitempty"`
}

// NewErrorReport is what programs need to know of an error; nil of nil.
func NewErrorReport(err error) *ErrorReport {
	if err == nil {
		return nil
	}
	report := &ErrorReport{Message: err.Error()}
	var classed interface{ ErrorClass() errorclass.Class } // a Kubernetes API server's, for the cluster or for a store in it
	if cloud, ok := spotpool.AsCloudError(err); ok {
		report.Class, report.Code, report.RequestID = cloud.Class, cloud.Code, cloud.RequestID
	} else if errors.As(err, &classed) {
		report.Class = classed.ErrorClass()
	}
	report.Remedy = remedyOf(err, report.Class)
	return report
}

// ErrPlanned is the answer of a port in a dry run: the decision stays planned.
var ErrPlanned = errors.New("a dry run changes nothing")

// ErrDeletionPlanned says, in a dry run, what the next run will do.
var ErrDeletionPlanned = errors.New("its deletion was begun: the next run finishes it")
