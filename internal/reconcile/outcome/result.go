package outcome

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Decision is one thing that was decided about a declaration of whatever kind. In
// JSON it is an object.
type Decision interface {
	// Heading is its kind ("launch", "evict"), what it was decided about
	// ("spot_pool/ap-singapore/train"), and why.
	Heading() (kind, object string, reasons []string)
	// Summary says what was decided, on one line and without the reasons.
	Summary() string
	// Verb is what Summary begins with.
	Verb() wording.Verb
}

// Result is a decision and what became of it. In JSON it is the decision's own
// fields, and beside them outcome and error.
type Result struct {
	Decision
	Outcome Outcome
	Error   *ErrorReport
}

// Of is the result of a decision.
func Of(d Decision, outcome Outcome, err error) Result {
	return Result{Decision: d, Outcome: outcome, Error: NewErrorReport(err)}
}

// AnyPlanned says whether a decision is planned and not done.
func AnyPlanned(results []Result) bool {
	return slices.ContainsFunc(results, func(r Result) bool { return r.Outcome == Planned })
}

// Kind is what was decided: "launch", "evict".
func (r Result) Kind() string { kind, _, _ := r.Heading(); return kind }

// Object names what it was decided about: "spot_pool/ap-singapore/train",
// "budget/team-a".
func (r Result) Object() string { _, object, _ := r.Heading(); return object }

// Reasons say why.
func (r Result) Reasons() []string { _, _, reasons := r.Heading(); return reasons }

// resultForm is a decision of a run, with its outcome.
type resultForm struct {
	// What happened to the decision.
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
		return nil, fmt.Errorf("the decision %s is no object with fields", fields)
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

// Read reads what MarshalJSON writes. Which of the readers is used follows from how
// the name of the decision's object begins: "budget".
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
		return fmt.Errorf("a decision about %q is of no kind that is known", head.Object)
	}
	d, err := read(data)
	*r = Result{Decision: d, Outcome: head.Outcome, Error: head.Error}
	return err
}
