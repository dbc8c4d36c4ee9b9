package reconcile

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Gate says whether a pool's budget lets it launch, by the status that the last
// run left in the store; it looks at no cluster. It is closed while the budget
// is exceeded. It is closed too where what the budget has used is unknown, and
// then the error says why; the gate's reason says the same.
func (e *Engine) Gate(ctx context.Context, d spotpool.Declaration) (spotpool.Gate, error) {
	return e.gateBy(ctx, d, nil)
}

// gate is Gate for surfaces that show the reason and count no failures.
func (e *Engine) gate(ctx context.Context, d spotpool.Declaration) spotpool.Gate {
	gate, _ := e.Gate(ctx, d)
	return gate
}

// gateBy prefers the statuses that a run made, and perhaps did not write, to
// those in the store.
func (e *Engine) gateBy(ctx context.Context, d spotpool.Declaration, made map[string]budget.Status) (spotpool.Gate, error) {
	if d.Budget == "" {
		return spotpool.Gate{}, nil
	}
	status, record, err := e.judgement(ctx, d.Budget, made)
	if err == nil {
		err = trusted(record, status, e.now())
	}
	if err != nil {
		err = fmt.Errorf("nothing is launched, since what its budget %s has used is unknown: %w", d.Budget, err)
		return spotpool.Gate{Closed: true, Reason: err.Error()}, err
	}
	if !status.Usage.Exceeded() {
		return spotpool.Gate{}, nil
	}
	return spotpool.Gate{Closed: true, Reason: exceededReason(status)}, nil
}

func exceededReason(s budget.Status) string {
	text := fmt.Sprintf("its budget %s is used up: %s of %s GPU-hours as of %s", s.Name, budget.Hours(s.Usage.Consumed), budget.Hours(s.Usage.Limit), s.At.UTC().Format(time.RFC3339))
	if end := s.Usage.WindowEnd; end.After(s.At) {
		text += ", in a window that ends " + end.UTC().Format(time.RFC3339)
	}
	return text + "; launches go on by themselves once usage is below the limit"
}

// judgement is what a budget was last judged to be, and its record.
func (e *Engine) judgement(ctx context.Context, name string, made map[string]budget.Status) (budget.Status, declaration.Budget, error) {
	record, err := e.loadBudget(ctx, name)
	if err != nil {
		return budget.Status{}, record.value, err
	}
	if !record.exists() {
		return budget.Status{}, record.value, &NoBudgetError{Name: name, Store: e.Store.String(), Known: e.budgetNames(ctx)}
	}
	if status, ok := made[name]; ok {
		return status, record.value, nil
	}
	status, known, err := e.loadBudgetStatus(ctx, record.value.Declaration)
	if err == nil && !known {
		err = fmt.Errorf("it has no status in the store %s yet, which gpupool reconcile makes", e.Store)
	}
	return status.value, record.value, err
}

// trusted says why a status must not open a gate; nil where it may.
func trusted(record declaration.Budget, s budget.Status, now time.Time) error {
	d := record.Declaration
	if record.Phase != declaration.Active {
		return errors.New("it is being destroyed")
	}
	if s.Unknown != nil {
		return errors.New(s.Unknown.Reason)
	}
	if s.Terms != d.Terms() {
		return fmt.Errorf("it was changed at %s, and no run of gpupool reconcile has judged it since", d.PublishedAt.UTC().Format(time.RFC3339))
	}
	limit, err := d.StatusAge()
	if err != nil {
		return err
	}
	switch age := now.Sub(s.At); {
	case age > limit:
		return fmt.Errorf("its status is as of %s, %s ago, and max_status_age is %s: does gpupool reconcile still run, and reach the cluster?", s.At.UTC().Format(time.RFC3339), age.Round(time.Second), limit)
	case age < -limit:
		return fmt.Errorf("its status is as of %s, which is still to come: one of the clocks is wrong", s.At.UTC().Format(time.RFC3339))
	}
	return nil
}
