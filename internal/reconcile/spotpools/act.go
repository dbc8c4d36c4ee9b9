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

// attempt is one pool's part of a run.
type attempt struct {
	declaration spotpool.Declaration
	run         spotpool.Run
	gate        spotpool.Gate
	gone        map[string]bool // recorded ids that are certainly gone
	results     []outcome.Result
	notices     []string // what became of instances, over all of the run's looks
	warnings    []string // beside those of the plan
	latest      *look    // nil until the first one succeeded
	// failure is what went wrong first, where anything did; nil otherwise.
	failure error
	// uncertain says that a launch's outcome is unknown and was left open.
	uncertain bool
}

// AccountError says that the credentials belong to another account than the
// pool does.
type AccountError struct{ Object, Pool, Credentials string }

// Error says whose the pool is, and what to do.
func (e *AccountError) Error() string {
	return fmt.Sprintf("%s belongs to account %s, and these credentials to account %s: nothing was touched. Use the credentials of account %s", e.Object, e.Pool, e.Credentials, e.Pool)
}

// act takes a fresh look at the pool, decides, and carries the decisions out,
// one by one, each on what the one before left behind. The pool's lock must be
// held. An error means that the pool could not be looked at or recorded;
// refusals of the cloud stand in the attempt.
func (f *Flow) act(ctx context.Context, a *attempt) error {
	d := a.declaration
	j, err := f.ownJournal(ctx, d)
	if err != nil {
		return err
	}
	observation, err := f.observePool(ctx, d, j.Value, a.gone)
	if err != nil {
		return err
	}
	if observation.AccountID != d.AccountID {
		return &AccountError{Object: d.Object(), Pool: d.AccountID, Credentials: observation.AccountID}
	}
	a.run.Refused, a.run.Halted = nil, "" // what was refused before may be granted now
	step := &actor{Flow: f, attempt: a, journal: j, observation: observation}
	return step.run(ctx)
}

// saw keeps a look. What it noticed is kept apart: once that is in the journal, no
// later plan says it.
func (a *attempt) saw(plan spotpool.Plan, o spotpool.Observation) {
	a.latest = &look{plan: plan, observation: o}
	for _, text := range plan.Notices {
		if !slices.Contains(a.notices, text) {
			a.notices = append(a.notices, text)
		}
	}
}

// plan is that of the latest look, with all that was noticed and is to be warned
// of; nil where there was no look.
func (a *attempt) plan() *spotpool.Plan {
	if a.latest == nil {
		return nil
	}
	plan := a.latest.plan
	plan.Notices = a.notices
	plan.Warnings = slices.Concat(a.warnings, plan.Warnings)
	return &plan
}

// actor carries out the decisions about one pool under its lock.
type actor struct {
	*Flow
	*attempt
	journal     journal
	observation spotpool.Observation
}

// run decides and acts until nothing is left to decide. Each decision changes what
// the next one sees: also a refusal, which rules out no more than what was refused.
func (s *actor) run(ctx context.Context) error {
	for {
		plan := spotpool.Decide(s.situation())
		s.saw(plan, s.observation)
		if err := s.remember(ctx, plan.Journal); err != nil {
			return err
		}
		if len(plan.Decisions) == 0 || s.interrupted(ctx) {
			return nil
		}
		if err := s.do(ctx, plan.Decisions[0]); err != nil {
			return err
		}
	}
}

// interrupted reports whether the context has ended.
func (s *actor) interrupted(ctx context.Context) bool {
	if s.failure == nil {
		s.failure = context.Cause(ctx)
	}
	return ctx.Err() != nil
}

func (s *actor) situation() spotpool.Situation {
	return spotpool.Situation{
		Declaration: s.declaration, Observation: s.observation, Journal: s.journal.Value,
		Now: s.observation.At, Run: s.attempt.run, Gate: s.attempt.gate,
	}
}

// remember writes the journal if it changed.
func (s *actor) remember(ctx context.Context, j spotpool.Journal) error {
	if s.journal.Exists() && record.Same(s.journal.Value, j) {
		return nil
	}
	saved, err := s.saveJournal(ctx, s.declaration, s.journal, j)
	if err != nil {
		return err
	}
	s.journal = saved
	return nil
}

func (s *actor) do(ctx context.Context, d spotpool.Decision) error {
	s.Teller.Tell(d.Object, d.String(), &s.latest.plan.Counts)
	if d.Refresh {
		s.attempt.run.Refreshed = true
	}
	if d.Kind == spotpool.Terminate {
		return s.terminate(ctx, d)
	}
	return s.launch(ctx, d)
}

// launch writes the intent, asks the cloud, and records the outcome, in this
// order. Recording goes on when the context has ended meanwhile: an accepted
// launch must not be forgotten because of an interrupt.
func (s *actor) launch(ctx context.Context, d spotpool.Decision) error {
	request := *d.Request
	intent := s.journal.Value.AskAgain(request.Sequence, s.observation.At)
	if !d.Resume {
		s.attempt.run.Launched += d.Count
		intent = s.journal.Value.Open(request, s.observation.At)
	}
	if err := s.remember(ctx, intent); err != nil {
		return err
	}
	s.Teller.Logger().Info("launching", "decision", d)
	calling, done := record.Outliving(ctx)
	defer done()
	ids, at, err := s.Cloud.Launch(calling, request)
	s.forget(request.Region)
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	if err == nil {
		d.InstanceIDs = ids
		s.results = append(s.results, outcome.Of(d, outcome.Done, nil))
		return s.remember(recording, s.journal.Value.Accepted(request.Sequence, ids, at))
	}
	refusal, known := spotpool.AsCloudError(err)
	if !known || !s.journal.Value.ClosedBy(request.Sequence, refusal, s.observation.At) {
		return s.leaveOpen(recording, d, err)
	}
	if !d.Resume {
		s.attempt.run.Launched -= d.Count
	}
	if err := s.remember(recording, s.journal.Value.Refused(request.Sequence, refusal, s.declaration.Cooldown, s.observation.At)); err != nil {
		return err
	}
	if refusal.Scope == spotpool.ScopePool || refusal.Class == spotpool.ClassTransient {
		s.halt(d, err)
		return nil
	}
	s.results = append(s.results, outcome.Of(d, outcome.Short, err))
	s.Teller.Tell(d.Object, err.Error(), nil)
	return nil
}

// leaveOpen keeps the intent of a launch whose outcome err doesn't tell.
func (s *actor) leaveOpen(ctx context.Context, d spotpool.Decision, err error) error {
	s.uncertain = true
	s.halt(d, fmt.Errorf("the outcome of launch %d is unknown, and the next run will ask for it again: %w", d.Sequence, err))
	if refusal, known := spotpool.AsCloudError(err); known {
		return s.remember(ctx, s.journal.Value.Refused(d.Sequence, refusal, s.declaration.Cooldown, s.observation.At))
	}
	return nil
}

// terminate ends instances. The ids are noted first, so that a run after a kill
// does not take their disappearance for a reclaim.
func (s *actor) terminate(ctx context.Context, d spotpool.Decision) error {
	if err := s.remember(ctx, s.journal.Value.Ending(d.InstanceIDs, s.observation.At)); err != nil {
		return err
	}
	var victims []spotpool.Instance
	for _, i := range s.observation.Instances {
		if slices.Contains(d.InstanceIDs, i.ID) {
			victims = append(victims, i)
		}
	}
	s.Teller.Logger().Info("terminating", "decision", d)
	calling, done := record.Outliving(ctx)
	defer done()
	ended, err := s.Cloud.Terminate(calling, s.declaration.Region, victims)
	s.forget(s.declaration.Region)
	s.forgetMarkets(s.declaration.Region) // what ends gives quota and stock back
	s.observation = withEnding(s.observation, ended)
	for _, id := range d.InstanceIDs {
		if !slices.Contains(ended, id) {
			s.attempt.run.Refused = append(s.attempt.run.Refused, id)
		}
	}
	var refused interface{ NotEnded() []string }
	if errors.As(err, &refused) {
		if err := s.rememberRefused(ctx, victims, refused.NotEnded()); err != nil {
			return err
		}
	}
	if len(ended) == 0 && d.Refresh {
		s.attempt.run.Refreshed = false // others may be replaced instead
	}
	switch {
	case err != nil:
		s.fail(d, err)
	case len(ended) < len(d.InstanceIDs):
		s.fail(d, errNotYet)
	default:
		s.results = append(s.results, outcome.Of(d, outcome.Done, nil))
	}
	return nil
}

// rememberRefused takes back that the end of running instances was asked for: they
// go on, and count as working.
func (s *actor) rememberRefused(ctx context.Context, victims []spotpool.Instance, refused []string) error {
	var ids []string
	for _, i := range victims {
		if i.State == spotpool.StateRunning && slices.Contains(refused, i.ID) {
			ids = append(ids, i.ID)
		}
	}
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	return s.remember(recording, s.journal.Value.NotEnding(ids))
}

// errNotYet says that the cloud can't do something now and will later.
var errNotYet = errors.New("some instances can't be ended while they are starting or stopping; the next run ends them")

// halt notes that a launch failed for a reason that no other one would escape: the
// run launches nothing more, and goes on with what it ends.
func (s *actor) halt(d spotpool.Decision, err error) {
	s.attempt.run.Halted = err.Error()
	s.fail(d, err)
}

// fail notes a decision that failed. The first failure is the pool's.
func (s *actor) fail(d spotpool.Decision, err error) {
	if s.failure == nil {
		s.failure = err
	}
	// What is asked for again and again is told of once.
	s.results = slices.DeleteFunc(s.results, func(r outcome.Result) bool {
		of, ok := r.Decision.(spotpool.Decision)
		return ok && r.Outcome == outcome.Failed && of.Kind == d.Kind && of.Sequence == d.Sequence && slices.Equal(of.InstanceIDs, d.InstanceIDs)
	})
	s.results = append(s.results, outcome.Of(d, outcome.Failed, err))
	s.Teller.Logger().Error("decision failed", "decision", d, "error", err)
	s.Teller.Tell(d.Object, err.Error(), nil)
}

// withEnding shows instances as their end was just accepted.
func withEnding(o spotpool.Observation, ids []string) spotpool.Observation {
	o.Instances = slices.Clone(o.Instances)
	for n := range o.Instances {
		if slices.Contains(ids, o.Instances[n].ID) {
			o.Instances[n].State = spotpool.StateTerminating
		}
	}
	return o
}
