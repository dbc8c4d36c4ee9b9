package spotpools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// act takes a fresh look at the pool, decides, and carries the decisions out one by
// one, deciding again after each. The pool's lock must be held. An error means that
// the pool could not be looked at or recorded; refusals of the cloud are noted in the
// pass.
func (f *Flow) act(ctx context.Context, a *pass) error {
	d := a.declaration
	j, err := f.ownJournal(ctx, d)
	if err != nil {
		return err
	}
	observation, err := f.observePool(ctx, d, j.Value, a.gone)
	if err != nil {
		return err
	}
	if err := sameAccount(d, observation.AccountID); err != nil {
		return err
	}
	a.run.Refused, a.run.Halted = nil, "" // what was refused before may be granted now
	acting := &actor{flow: f, pass: a, journal: j, observation: observation}
	return acting.run(ctx)
}

// actor carries out the decisions about one pool under its lock.
type actor struct {
	flow        *Flow
	pass        *pass
	journal     journal
	observation spotpool.Observation
}

// run decides and acts until nothing is left to decide. Each decision changes what
// the next one sees; a refusal does, too, as it rules out what was refused.
func (s *actor) run(ctx context.Context) error {
	for {
		plan := spotpool.Decide(s.situation())
		s.pass.saw(plan, s.observation)
		if err := s.remember(ctx, plan.Journal); err != nil {
			return err
		}
		if len(plan.Decisions) == 0 {
			return nil
		}
		if ctx.Err() != nil {
			s.noteInterrupt(ctx)
			return nil
		}
		// In a dry run all decisions of the first plan are noted; else the first is done,
		// and the rest is decided anew.
		changed := false
		for n := 0; n < len(plan.Decisions) && !changed; n++ {
			err := s.do(ctx, plan.Decisions[n])
			changed = !errors.Is(err, outcome.ErrPlanned)
			if changed && err != nil {
				return err
			}
		}
		if !changed {
			return nil
		}
	}
}

// noteInterrupt makes the end of the context the pass's failure, if none came before.
func (s *actor) noteInterrupt(ctx context.Context) {
	if s.pass.failure == nil {
		s.pass.failure = context.Cause(ctx)
	}
}

func (s *actor) situation() spotpool.Situation {
	return spotpool.Situation{
		Declaration: s.pass.declaration, Observation: s.observation, Journal: s.journal.Value,
		Now: s.observation.At, Run: s.pass.run, Gate: s.pass.gate,
	}
}

// remember writes the journal if it changed.
func (s *actor) remember(ctx context.Context, j spotpool.Journal) error {
	if s.journal.Exists() && record.Same(s.journal.Value, j) {
		return nil
	}
	saved, err := s.flow.saveJournal(ctx, s.pass.declaration, s.journal, j)
	if err != nil {
		return err
	}
	s.journal = saved
	return nil
}

func (s *actor) do(ctx context.Context, d spotpool.Decision) error {
	s.flow.Teller.Tell(d.Object, d.String(), &s.pass.latest.plan.Counts)
	if d.Refresh {
		s.pass.run.Refreshed = true
	}
	carryOut := s.launch
	if d.Kind == spotpool.Terminate {
		carryOut = s.terminate
	}
	err := carryOut(ctx, d)
	if errors.Is(err, outcome.ErrPlanned) {
		s.note(ctx, d, outcome.Planned, nil)
	}
	return err
}

// launch writes the intent, asks the cloud, and records the outcome, in this order.
// It records even after the context has ended, since an accepted launch must not be
// forgotten because of an interrupt.
func (s *actor) launch(ctx context.Context, d spotpool.Decision) error {
	request := *d.Request
	var written spotpool.Journal
	if d.Resume {
		written = s.journal.Value.AskAgain(request.Sequence, s.observation.At)
	} else {
		s.pass.run.Launched += d.Count
		written = s.journal.Value.Open(request, s.observation.At)
	}
	if err := s.remember(ctx, written); err != nil {
		return err
	}
	calling, done := record.Outliving(ctx)
	defer done()
	ids, at, err := s.flow.Cloud.Launch(calling, request)
	s.flow.forget(request.Region)
	if errors.Is(err, outcome.ErrPlanned) {
		return err
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if err == nil {
		d.InstanceIDs = ids
		s.note(ctx, d, outcome.Done, nil)
		return s.remember(recording, s.journal.Value.Accepted(request.Sequence, ids, at))
	}
	return s.notLaunched(recording, d, err)
}

// notLaunched records why a call for a launch failed. Unless that says for certain that
// nothing was launched, the launch stays open.
func (s *actor) notLaunched(ctx context.Context, d spotpool.Decision, err error) error {
	noted, state := s.journal.Value, spotpool.LaunchState("")
	refusal, known := spotpool.AsCloudError(err)
	if known {
		noted, state = noted.Refused(d.Sequence, refusal, s.pass.declaration.Cooldown, s.observation.At)
	}
	if state != spotpool.LaunchRefused {
		s.pass.uncertain = true
		s.halt(ctx, d, fmt.Errorf("the outcome of launch %d is unknown, and the next run will ask for it again: %w", d.Sequence, err))
		return s.remember(ctx, noted)
	}
	if !d.Resume {
		s.pass.run.Launched -= d.Count
	}
	if err := s.remember(ctx, noted); err != nil {
		return err
	}
	if refusal.Scope == spotpool.ScopePool || refusal.Class == spotpool.ClassTransient {
		s.halt(ctx, d, err)
		return nil
	}
	s.note(ctx, d, outcome.Short, err)
	return nil
}

// terminate ends instances. It notes the ids first, so that a run after a kill does
// not take their disappearance for a reclaim.
func (s *actor) terminate(ctx context.Context, d spotpool.Decision) error {
	if err := s.remember(ctx, s.journal.Value.Ending(d.InstanceIDs, s.observation.At)); err != nil {
		return err
	}
	var instances []spotpool.Instance
	for _, i := range s.observation.Instances {
		if slices.Contains(d.InstanceIDs, i.ID) {
			instances = append(instances, i)
		}
	}
	calling, done := record.Outliving(ctx)
	defer done()
	ended, err := s.flow.Cloud.Terminate(calling, s.pass.declaration.Region, instances)
	if errors.Is(err, outcome.ErrPlanned) {
		return err
	}
	s.flow.forget(s.pass.declaration.Region)
	s.flow.forgetMarkets(s.pass.declaration.Region) // what ends gives quota and stock back
	s.observation = withEnding(s.observation, ended)
	for _, id := range d.InstanceIDs {
		if !slices.Contains(ended, id) {
			s.pass.run.Refused = append(s.pass.run.Refused, id)
		}
	}
	var refused interface{ NotEnded() []string }
	if errors.As(err, &refused) {
		if err := s.rememberRefused(ctx, instances, refused.NotEnded()); err != nil {
			return err
		}
	}
	if len(ended) == 0 && d.Refresh {
		s.pass.run.Refreshed = false // others may be replaced instead
	}
	switch {
	case err != nil:
		s.fail(ctx, d, err)
	case len(ended) < len(d.InstanceIDs):
		s.fail(ctx, d, errNotYet)
	default:
		s.note(ctx, d, outcome.Done, nil)
	}
	return nil
}

// rememberRefused notes that running instances do not end after all: they count as
// working again.
func (s *actor) rememberRefused(ctx context.Context, instances []spotpool.Instance, refused []string) error {
	var ids []string
	for _, i := range instances {
		if i.State == spotpool.StateRunning && slices.Contains(refused, i.ID) {
			ids = append(ids, i.ID)
		}
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	return s.remember(recording, s.journal.Value.NotEnding(ids))
}

// errNotYet says that the cloud refuses something now and will do it later.
var errNotYet = errors.New("some instances can't be ended while they are starting or stopping; the next run ends them")

// halt notes that a launch failed for a reason that every other launch would meet:
// the run launches nothing more, but still ends what it should.
func (s *actor) halt(ctx context.Context, d spotpool.Decision, err error) {
	s.pass.run.Halted = err.Error()
	s.fail(ctx, d, err)
}

// fail notes a failed decision. The first failure becomes the pool's.
func (s *actor) fail(ctx context.Context, d spotpool.Decision, err error) {
	if s.pass.failure == nil {
		s.pass.failure = err
	}
	// A decision that fails again and again is reported once.
	s.pass.results = slices.DeleteFunc(s.pass.results, func(r outcome.Result) bool {
		of, ok := r.Decision.(spotpool.Decision)
		return ok && r.Outcome == outcome.Failed && of.Kind == d.Kind && of.Sequence == d.Sequence && slices.Equal(of.InstanceIDs, d.InstanceIDs)
	})
	s.note(ctx, d, outcome.Failed, err)
}

// note notes what became of a decision, and tells of it.
func (s *actor) note(ctx context.Context, d spotpool.Decision, became outcome.Outcome, err error) {
	result := outcome.Of(d, became, err)
	s.pass.results = append(s.pass.results, result)
	s.flow.Teller.LogDecision(ctx, result)
	if err != nil {
		s.flow.Teller.Tell(d.Object, err.Error(), nil)
	}
}

// withEnding is the observation after the end of these instances was accepted.
func withEnding(o spotpool.Observation, ids []string) spotpool.Observation {
	o.Instances = slices.Clone(o.Instances)
	for n := range o.Instances {
		if slices.Contains(ids, o.Instances[n].ID) {
			o.Instances[n].State = spotpool.StateTerminating
		}
	}
	return o
}
