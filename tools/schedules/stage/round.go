package stage

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

const (
	// healing is how fast the clock goes after a round: what is not observed yet is waited
	// for by that clock.
	healing = time.Minute
	// patience is how long a process may take.
	patience = 45 * time.Second
)

// BrokenError has the violations of a schedule.
type BrokenError struct {
	Round  int // from 0
	Broken []string
	Log    string // of the last rounds
}

// Error is the first thing that was broken.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("broke in round %d: %s", e.Round+1, e.Broken[0])
}

// Play plays a schedule, and stops where something is broken. heard hears of each round
// before it begins.
func (w *World) Play(ctx context.Context, s schedule.Schedule, heard func(round int)) error {
	for n, r := range s.Rounds {
		heard(n)
		w.log.round(fmt.Sprintf("%d: %s", n+1, r))
		if err := w.playRound(ctx, r); err != nil {
			return fmt.Errorf("round %d: %w\n%s", n+1, err, w.log.last(1))
		}
		if broken := w.log.breaches(); len(broken) > 0 {
			return &BrokenError{Round: n, Broken: broken, Log: w.log.last(2)}
		}
	}
	return ctx.Err()
}

func (w *World) playRound(ctx context.Context, r schedule.Round) error {
	w.count(func(c *schedule.Counts) { c.Rounds++ })
	if err := w.prepare(r); err != nil {
		return err
	}
	stop := w.cloud.forward(ctx, time.Duration(r.Weather.Pace), nil)
	err := w.meanwhile(ctx, r)
	stop()
	if err != nil {
		return err
	}
	err = w.cloud.recover()
	w.watch.Sample()
	if err != nil {
		return err
	}
	defer w.cloud.forward(ctx, healing, nil)()
	return w.recoverPool(ctx, r)
}

func (w *World) prepare(r schedule.Round) error {
	if err := w.lose(r.Loss); err != nil {
		return err
	}
	w.terms = r.Terms
	if err := w.cloud.weather(r.Weather); err != nil {
		return err
	}
	w.cloud.unsettle(r)
	w.watch.Sample()
	for _, f := range r.Faults {
		if _, err := w.cloud.AddFault(f); err != nil {
			return err
		}
	}
	return w.cloud.restock(r.Stock)
}

// lose removes the journal, or all of the store and with it the tombstones.
func (w *World) lose(loss schedule.Loss) error {
	switch loss {
	case schedule.LostJournal:
		return w.records.loseJournal()
	case schedule.LostStore:
		w.watch.forget()
		return w.programs.LoseStore()
	}
	return nil
}

func (w *World) meanwhile(ctx context.Context, r schedule.Round) error {
	var group sync.WaitGroup
	errs := make([]error, 1+len(r.Reconciles))
	stopWeather := w.adversities(ctx, r)
	group.Go(func() {
		time.Sleep(time.Duration(r.Terraform.Start))
		if r.Operation == schedule.Destroy {
			_, errs[0] = w.destroy(ctx, r.Terraform, true)
		} else {
			_, errs[0] = w.apply(ctx, r.Terraform)
		}
	})
	for n, p := range r.Reconciles {
		group.Go(func() {
			time.Sleep(time.Duration(p.Start))
			_, errs[1+n] = w.reconcile(ctx, p, true)
		})
	}
	group.Wait()
	stopWeather()
	return errors.Join(append(errs, ctx.Err())...)
}

// adversities reclaims machines and steps the clock at their times.
func (w *World) adversities(ctx context.Context, r schedule.Round) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	at := func(when schedule.Duration, do func()) {
		group.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(time.Duration(when)):
				do()
			}
		})
	}
	for _, j := range r.Weather.Jumps {
		at(j.At, func() {
			w.log.say("the clock advances by %v", time.Duration(j.By))
			_, _ = w.cloud.StepClock(time.Duration(j.By)) // it goes forward
		})
	}
	for _, reclaim := range r.Reclaims {
		at(reclaim.At, func() {
			reclaimed := w.cloud.reclaim(reclaim)
			w.count(func(c *schedule.Counts) { c.Reclaims += reclaimed })
			w.watch.Sample()
		})
	}
	return func() { cancel(); group.Wait() }
}
