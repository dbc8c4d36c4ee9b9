package budgets

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// LiveReplay is how a budget's limit, or any other, would have applied over all the time in the ledger.
type LiveReplay struct {
	Declaration budget.Declaration
	meter.Replayed
	// CompleteFrom is from when the ledger contains the whole window; it may be in the future.
	CompleteFrom time.Time
	Coverage     int // the observed part of the time, in thousandths
	Warnings     reason.Reasons
}

// Replay replays a budget from the beginning of the ledger until the time of the question. Nothing is
// written. Unlike in Ask, the limit applies to any window.
func (f *Flow) Replay(ctx context.Context, q Question) (LiveReplay, error) {
	l, err := f.inquire(ctx, q)
	if err != nil {
		return LiveReplay{}, err
	}
	since, err := l.coverageStart()
	if err != nil {
		return LiveReplay{}, err
	}
	r := LiveReplay{Declaration: l.declaration, Warnings: l.Warnings}
	if r.Replayed, err = meter.Replay(l.declaration, l.Ledger().All(), since, l.at, time.LoadLocation); err != nil {
		return r, err
	}
	h := l.Ledger().Header
	r.Coverage = h.Coverage(ledger.TimeOf(since), ledger.TimeOf(l.at))
	if r.CompleteFrom, err = meter.CompleteFrom(l.declaration, since, time.LoadLocation); err != nil {
		return r, err
	}
	if h.KnownSince() <= h.Forgone.Before { // an operator accepted it
		r.CompleteFrom = since
	}
	for _, loss := range h.LostSince(ledger.TimeOf(since)) {
		r.Warnings = append(r.Warnings, reason.PartLost(reason.NewForeign(loss.Reason)))
	}
	return r, nil
}
