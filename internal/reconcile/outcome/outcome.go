// Package outcome has the outcomes of decisions for reports, JSON, logs and progress.
package outcome

import (
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
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

// State is the state of an object with this outcome; empty for Done.
func (o Outcome) State() state.State {
	return map[Outcome]state.State{Planned: state.OutOfSync, Short: state.Short, Failed: state.Failing, Skipped: state.Skipped}[o]
}

// Form is the verb of a decision with this outcome: "launched", "could not launch".
func (o Outcome) Form(v wording.Verb) string {
	switch {
	case o == Planned:
		return "would " + v.Base
	case o == Skipped:
		return "did not " + v.Base
	case o == Done:
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
	// The same as a reason. Absent if gpupool did not write the message.
	Reason reason.Reason `json:"reason,omitzero"`
}

// String returns the message with its remedy.
func (e *ErrorReport) String() string {
	if e.Reason.IsZero() {
		return e.Message
	}
	return e.Reason.String()
}

// For returns the error as a reader of its object may see it.
func (e *ErrorReport) For(reader reason.Renderer) *ErrorReport {
	if e == nil {
		return nil
	}
	seen := *e
	seen.Message, seen.Remedy = reader.Message(e.Reason, e.Message, e.Remedy)
	if e.Remedy == remedies[e.Class].String() {
		seen.Remedy = e.Remedy
	}
	seen.Reason = reader.Redact(e.Reason)
	return &seen
}

// NewErrorReport returns the report of an error; nil for nil.
func NewErrorReport(err error) *ErrorReport {
	if err == nil {
		return nil
	}
	report := &ErrorReport{Message: err.Error()}
	var classed interface{ ErrorClass() errorclass.Class } // an error of a Kubernetes API server
	if cloud, ok := spotpool.AsCloudError(err); ok {
		report.Class, report.Code, report.RequestID = cloud.Class, cloud.Code, cloud.RequestID
	} else if errors.As(err, &classed) {
		report.Class = classed.ErrorClass()
	}
	report.Remedy, report.Reason = remedyOf(err, report.Class), reason.Of(err)
	if why := report.Reason; !why.IsZero() {
		report.Message, report.Remedy = reason.Renderer{}.Message(why, "", report.Remedy)
	}
	return report
}

// ErrPlanned is the error of every change in a dry run: the decision stays planned.
var ErrPlanned = errors.New("a dry run changes nothing")

// ErrDeletionPlanned reports, in a dry run, what the next run does.
var ErrDeletionPlanned = errors.New("deletion in progress: the next run finishes it")
