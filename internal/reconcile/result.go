package reconcile

import (
	"encoding/json"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Result is a decision and what became of it. In JSON it is the decision's own
// fields, and beside them outcome and error.
type Result struct {
	// Pool or Budget is what was decided; the other one is nil.
	Pool    *spotpool.Decision
	Budget  *budget.Decision
	Outcome Outcome
	Error   *ErrorReport
}

func poolResult(d spotpool.Decision, outcome Outcome, err error) Result {
	return Result{Pool: &d, Outcome: outcome, Error: NewErrorReport(err)}
}

func budgetResult(d budget.Decision, outcome Outcome, err error) Result {
	return Result{Budget: &d, Outcome: outcome, Error: NewErrorReport(err)}
}

// Kind is what was decided: "launch", "evict".
func (r Result) Kind() string {
	if r.Budget != nil {
		return string(r.Budget.Kind)
	}
	return string(r.Pool.Kind)
}

// Object names what it was decided about: "spot_pool/ap-singapore/train",
// "budget/team-a".
func (r Result) Object() string {
	if r.Budget != nil {
		return r.Budget.Object
	}
	return r.Pool.Object
}

// Reasons say why.
func (r Result) Reasons() []string {
	if r.Budget != nil {
		return r.Budget.Reasons
	}
	return r.Pool.Reasons
}

// Summary says what was decided, on one line and without the reasons.
func (r Result) Summary() string {
	if r.Budget != nil {
		return r.Budget.Summary()
	}
	return r.Pool.Summary()
}

// resultTail is what stands beside a decision's own fields.
type resultTail struct {
	Outcome Outcome      `json:"outcome"`
	Error   *ErrorReport `json:"error,omitempty"`
}

type (
	poolResultForm struct {
		*spotpool.Decision
		resultTail
	}
	budgetResultForm struct {
		*budget.Decision
		resultTail
	}
)

// MarshalJSON writes the decision's fields and the outcome as one object.
func (r Result) MarshalJSON() ([]byte, error) {
	tail := resultTail{r.Outcome, r.Error}
	if r.Budget != nil {
		return json.Marshal(budgetResultForm{r.Budget, tail})
	}
	return json.Marshal(poolResultForm{r.Pool, tail})
}

// UnmarshalJSON reads what MarshalJSON writes.
func (r *Result) UnmarshalJSON(data []byte) error {
	var head struct {
		Object string `json:"object"`
	}
	if err := json.Unmarshal(data, &head); err != nil {
		return err
	}
	if strings.HasPrefix(head.Object, "budget/") {
		form := budgetResultForm{Decision: new(budget.Decision)}
		err := json.Unmarshal(data, &form)
		*r = Result{Budget: form.Decision, Outcome: form.Outcome, Error: form.Error}
		return err
	}
	form := poolResultForm{Decision: new(spotpool.Decision)}
	err := json.Unmarshal(data, &form)
	*r = Result{Pool: form.Decision, Outcome: form.Outcome, Error: form.Error}
	return err
}
