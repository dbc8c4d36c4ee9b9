package budgets

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// LiveReplay is what a budget's limit, or any other, would have come to over all of
// the past that the ledger holds.
type LiveReplay struct {
	Declaration budget.Declaration
	meter.Replayed
	// CompleteFrom is from when on the ledger holds the whole window; it may be to come.
	CompleteFrom time.Time
	Coverage     int // how much of the time was observed, in thousandths
	Warnings     []string
}

// Replay replays a budget from when the ledger begins until the moment that is asked
// for. Nothing is written. Unlike in Ask, the limit is compared with any window: what
// if it were declared so is what is asked.
func (f *Flow) Replay(ctx context.Context, q Question) (LiveReplay, error) {
	l, err := f.inquire(ctx, q)
	if err != nil {
		return LiveReplay{}, err
	}
	since, err := l.coveredSince()
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
	if h.KnownSince() <= h.Forgone.Before { // a person said that it does not matter
		r.CompleteFrom = since
	}
	for _, loss := range h.LostSince(ledger.TimeOf(since)) {
		r.Warnings = append(r.Warnings, lostTexts([]string{loss.Reason})...)
	}
	return r, nil
}
