package outcome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Decision is a decision about an object of any kind. In JSON it is an object.
type Decision interface {
	// Heading returns its kind ("launch", "evict"), its object
	// ("spot_pool/ap-singapore/train"), and the reasons.
	Heading() (kind, object string, reasons reason.Reasons)
	// Summary describes it on one line, without reasons.
	Summary() string
	// Verb is the start of Summary.
	Verb() wording.Verb
}

// Result is a decision with its outcome. In JSON it has the fields of the decision, and
// outcome and error.
type Result struct {
	Decision
	Outcome Outcome
	Error   *ErrorReport
}

// Of is the result of a decision.
func Of(d Decision, outcome Outcome, err error) Result {
	return Result{Decision: d, Outcome: outcome, Error: NewErrorReport(err)}
}

// AnyPlanned reports whether a decision is planned.
func AnyPlanned(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Outcome == Planned })
}

// Kind is the kind of the decision: "launch", "evict".
func (r Result) Kind() string { kind, _, _ := r.Heading(); return kind }

// Object is the object of the decision: "spot_pool/ap-singapore/train", "budget/team-a".
func (r Result) Object() string { _, object, _ := r.Heading(); return object }

// Reasons are the reasons of the decision.
func (r Result) Reasons() reason.Reasons { _, _, reasons := r.Heading(); return reasons }

// resultForm is a decision of a run, with its outcome.
type resultForm struct {
	// The outcome of the decision.
	Outcome Outcome `json:"outcome"`
	// The error of a decision that failed, or that was refused.
	Error *ErrorReport `json:"error,omitempty"`
}

// MarshalJSON writes the decision's fields and the outcome as one object.
func (r Result) MarshalJSON() ([]byte, error) {
	fields, err := json.Marshal(r.Decision)
	if err != nil {
		return nil, err
	}
	tail, err := json.Marshal(resultForm{r.Outcome, r.Error})
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(fields, []byte("{")) || len(fields) < 3 {
		return nil, fmt.Errorf("the decision %s is not an object with fields", fields)
	}
	return append(append(fields[:len(fields)-1], ','), tail[1:]...), nil
}

// Reader reads the decisions of one kind of declaration.
func Reader[D Decision]() func(data []byte) (Decision, error) {
	return func(data []byte) (Decision, error) {
		var d D
		err := json.Unmarshal(data, &d)
		return d, err
	}
}

// Read reads the JSON of MarshalJSON. The kind of the object selects the reader.
func (r *Result) Read(data []byte, readers map[string]func([]byte) (Decision, error)) error {
	var head struct {
		Object  string       `json:"object"`
		Outcome Outcome      `json:"outcome"`
		Error   *ErrorReport `json:"error"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	kind, _, _ := strings.Cut(head.Object, "/")
	read, known := readers[kind]
	if !known {
		return fmt.Errorf("decision about %q: unknown kind", head.Object)
	}
	d, err := read(data)
	*r = Result{Decision: d, Outcome: head.Outcome, Error: head.Error}
	return err
}
