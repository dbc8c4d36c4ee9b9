//go:build unix

package stage

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
)

// healing is how fast the clock goes after a round: what nobody has seen yet is waited
// for by that clock.
const healing = time.Minute

// patience is how long a process of a round may take.
const patience = 45 * time.Second

// BrokenError says what a schedule broke.
type BrokenError struct {
	Seed   uint64
	Round  int
	Broken []string
	Log    string // of the last rounds
}

// Error is the first thing that was broken.
func (e *BrokenError) Error() string {
	return fmt.Sprintf("seed %d broke in round %d: %s", e.Seed, e.Round+1, e.Broken[0])
}

// Play plays a schedule, and stops where something is broken. heard hears of each
// round before it begins.
func (w *World) Play(ctx context.Context, s schedule.Schedule, heard func(round int)) error {
	for n, r := range s.Rounds {
		heard(n)
		w.log.round(fmt.Sprintf("round %d: %s, %s", n+1, r.Operation, r.Terms))
		if err := w.playRound(ctx, r); err != nil {
			return fmt.Errorf("seed %d, round %d: %w\n%s", s.Seed, n+1, err, w.log.last(1))
		}
		if broken := w.log.breaches(); len(broken) > 0 {
			return &BrokenError{Seed: s.Seed, Round: n, Broken: broken, Log: w.log.last(2)}
		}
	}
	return ctx.Err()
}

func (w *World) playRound(ctx context.Context, r schedule.Round) error {
	w.count(func(c *schedule.Counts) { c.Rounds++ })
	if err := w.prepare(r); err != nil {
		return err
	}
	stop := w.forward(ctx, r.Weather.Pace, nil)
	err := w.meanwhile(ctx, r)
	stop()
	if err != nil {
		return err
	}
	if err := w.recover(); err != nil {
		return err
	}
	defer w.forward(ctx, healing, nil)()
	return w.makeGood(ctx, r)
}

// prepare makes the world of a round.
func (w *World) prepare(r schedule.Round) error {
	if r.Loss != "" {
		w.log.say("lost: %s", r.Loss)
		if err := w.lose(r.Loss); err != nil {
			return err
		}
	}
	if err := w.configure(r.Terms); err != nil {
		return err
	}
	if err := w.weather(r.Weather); err != nil {
		return err
	}
	w.log.say("stock %d", r.Stock)
	w.unsettle(r)
	for _, f := range r.Faults {
		w.log.say("fault %s of %s, after %d, %d times (%v) %s", f.Kind, f.Action, f.After, f.Count, time.Duration(f.Delay), f.Code)
		if _, err := w.server.AddFault(f); err != nil {
			return err
		}
	}
	return w.restock(r.Stock)
}

// weather makes the cloud as slow and as late as it is to be.
func (w *World) weather(is schedule.Weather) error {
	w.log.say("launches take %v, ends %v, listings are %v late, tags %v, pace %v", is.LaunchDelay, is.TerminateDelay, is.ListingDelay, is.TagDelay, is.Pace)
	launch, terminate, listing, tags := cvmsim.Duration(is.LaunchDelay), cvmsim.Duration(is.TerminateDelay), cvmsim.Duration(is.ListingDelay),
		cvmsim.Duration(is.TagDelay)
	return w.server.Configure(cvmsim.Settings{LaunchDelay: &launch, TerminateDelay: &terminate, ListingDelay: &listing, TagDelay: &tags})
}

// unsettle makes members such that they can't be ended.
func (w *World) unsettle(r schedule.Round) {
	var ids []string
	for _, i := range w.machines() {
		if i.State == "RUNNING" {
			ids = append(ids, i.InstanceID)
		}
	}
	if n := min(r.Stopping, len(ids)); n > 0 {
		w.log.say("STOPPING: %v", ids[:n])
		_ = w.server.SetState(cvmsim.StateRequest{InstanceIDs: ids[:n], State: "STOPPING"}) // they are there
	}
	if n := min(r.Protected, len(ids)); n > 0 {
		w.log.say("protected: %v", ids[:n])
		_ = w.server.SetState(cvmsim.StateRequest{InstanceIDs: ids[:n], Protected: ptr(true)})
	}
	w.watch.Sample()
}

// meanwhile runs what a round has beside each other.
func (w *World) meanwhile(ctx context.Context, r schedule.Round) error {
	var group sync.WaitGroup
	errs := make([]error, 1+len(r.Reconciles))
	stopWeather := w.adversities(ctx, r)
	group.Go(func() {
		time.Sleep(r.Terraform.Start)
		errs[0] = w.terraform(ctx, r.Operation, r.Terms, r.Terraform.Kill)
	})
	for n, p := range r.Reconciles {
		group.Go(func() {
			time.Sleep(p.Start)
			errs[1+n] = w.reconcile(ctx, p.Wait, p.Kill, true)
		})
	}
	group.Wait()
	stopWeather()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// adversities reclaims machines and steps the clock at their times.
func (w *World) adversities(ctx context.Context, r schedule.Round) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var group sync.WaitGroup
	at := func(when time.Duration, do func()) {
		group.Go(func() {
			select {
			case <-ctx.Done():
			case <-time.After(when):
				do()
			}
		})
	}
	for _, j := range r.Weather.Jumps {
		at(j.At, func() {
			w.log.say("the clock goes on by %v", j.By)
			_, _ = w.server.StepClock(j.By) // it goes forward
		})
	}
	for _, reclaim := range r.Reclaims {
		at(reclaim.At, func() { w.reclaim(reclaim) })
	}
	return func() { cancel(); group.Wait() }
}

// reclaim takes up to so many machines back; there may be fewer.
func (w *World) reclaim(r schedule.Reclaim) {
	for count := r.Count; count > 0; count-- {
		ids, err := w.server.Reclaim(cvmsim.ReclaimRequest{Pool: pool.Name, Region: region, Count: count, Notice: cvmsim.Duration(r.Notice), View: r.View})
		if err != nil {
			continue
		}
		w.log.say("reclaimed (%s, notice %v): %v", r.View, r.Notice, ids)
		w.count(func(c *schedule.Counts) { c.Reclaims += len(ids) })
		break
	}
	w.watch.Sample()
}

// recover makes the cloud well again, and lets all its delays pass, as well as the
// times for which gpupool leaves something alone.
func (w *World) recover() error {
	w.server.ClearFaults()
	if err := w.weather(schedule.Weather{LaunchDelay: 5 * time.Second, TerminateDelay: 20 * time.Second, Pace: healing}); err != nil {
		return err
	}
	if err := w.restock(100); err != nil {
		return err
	}
	if _, err := w.server.StepClock(12 * time.Minute); err != nil {
		return err
	}
	for _, i := range w.machines() {
		if i.State == "PENDING" || i.State == "STOPPING" { // what hangs comes to something
			if err := w.server.SetState(cvmsim.StateRequest{InstanceIDs: []string{i.InstanceID}, State: "RUNNING"}); err != nil {
				return err
			}
		}
		if i.Protected {
			if err := w.server.SetState(cvmsim.StateRequest{InstanceIDs: []string{i.InstanceID}, Protected: ptr(false)}); err != nil {
				return err
			}
		}
	}
	w.watch.Sample()
	w.log.say("the cloud is well again")
	return nil
}
