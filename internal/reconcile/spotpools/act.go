package spotpools

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/fleet"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// act observes the pool, decides, and carries the decisions out one by one. It decides again
// after each. The pool's lock must be held. It fails if the pool could not be observed or
// recorded; refusals of Tencent Cloud are noted in the pass.
func (p *pass) act(ctx context.Context) error {
	d := p.declaration
	j, err := p.flow.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	observation, err := p.observeWhole(ctx, j.Value, actMaxAge)
	if err != nil {
		return err
	}
	if err := sameConnection(d, observation.Account()); err != nil {
		return err
	}
	if p.hold, err = p.flow.holdOn(ctx, d); err != nil {
		return err
	}
	p.soFar.Refused, p.soFar.Halted = nil, "" // refusals may be over by now
	p.soFar.Drained, p.soFar.Uncordoned, p.soFar.Forgotten, p.soFar.TokensEnded = nil, nil, nil, nil
	acting := &actor{flow: p.flow, pass: p, journal: j, observation: observation}
	return acting.decideAndAct(ctx)
}

// actor carries out the decisions about one pool under its lock.
type actor struct {
	flow        *Flow
	pass        *pass
	journal     document
	observation spotpool.Observation
	counted     bool // the pods with GPUs were counted, or could not be
}

// decideAndAct decides and acts until there are no decisions. Each one, and each refusal,
// changes the input of the next.
func (a *actor) decideAndAct(ctx context.Context) error {
	for {
		plan := decide.Decide(a.pass.situation(a.observation, a.flow.unreported(a.journal.Value)))
		if plan.Chooses() && a.count(ctx) {
			continue // with the counts
		}
		a.pass.note(plan, a.observation)
		if err := a.writeJournal(ctx, plan.Journal); err != nil {
			return err
		}
		a.pass.soFar.Replaced += len(plan.Replacing)
		if len(plan.Decisions) == 0 || a.noteInterrupt(ctx) {
			a.mark(ctx, plan)
			return nil
		}
		// A dry run notes all decisions of the first plan. Else only the first is done, and
		// the others are decided again.
		changed := false
		for n := 0; n < len(plan.Decisions) && !changed; n++ {
			err := a.do(ctx, plan.Decisions[n])
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

// noteInterrupt reports whether the context has ended. That is the pass's failure, if there is
// no other.
func (a *actor) noteInterrupt(ctx context.Context) bool {
	if a.pass.failure == nil {
		a.pass.failure = context.Cause(ctx)
	}
	return ctx.Err() != nil
}

func (a *actor) writeJournal(ctx context.Context, j journal.Journal) error {
	if a.journal.Exists() && record.Same(a.journal.Value, j) {
		return nil
	}
	saved, err := a.flow.saveJournal(ctx, a.pass.declaration, a.journal, j)
	if err != nil {
		return err
	}
	a.journal = saved
	return nil
}

// record writes the journal even after the context has ended.
func (a *actor) record(ctx context.Context, j journal.Journal) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	return a.writeJournal(ctx, j)
}

// cluster returns the cluster of the pool's nodes.
func (a *actor) cluster(ctx context.Context) (Cluster, error) {
	return a.flow.clusterOf(ctx, a.pass.declaration)
}

// saveFleet and saveTokens write a part of the journal.
func (a *actor) saveFleet(ctx context.Context, f fleet.Fleet) error {
	j := a.journal.Value
	j.Fleet = f
	return a.writeJournal(ctx, j)
}

func (a *actor) saveTokens(ctx context.Context, list launches.Tokens) error {
	j := a.journal.Value
	j.Tokens = list
	return a.writeJournal(ctx, j)
}

func (a *actor) do(ctx context.Context, d spotpool.Decision) error {
	if a.steps()[d.Kind] == nil {
		return fmt.Errorf("%s: this version cannot carry out a decision of kind %q", d.Object, d.Kind)
	}
	a.showProgress(d)
	if d.Refresh && d.Kind != spotpool.KindDrain { // a drain and its termination are one step
		a.pass.soFar.Refreshed = true
	}
	err := a.steps()[d.Kind](ctx, d)
	if errors.Is(err, outcome.ErrPlanned) {
		a.note(ctx, d, outcome.Planned, nil)
	}
	return err
}

// showProgress shows which decision is carried out next.
func (a *actor) showProgress(d spotpool.Decision) {
	a.flow.Reporter.Report(d.Object, d.String(), a.pass.latest.size())
}

// steps returns how each kind of decision is carried out.
func (a *actor) steps() map[spotpool.Kind]func(context.Context, spotpool.Decision) error {
	return map[spotpool.Kind]func(context.Context, spotpool.Decision) error{
		spotpool.KindLaunch: a.launch, spotpool.KindTerminate: a.terminate,
		spotpool.KindDrain: a.onNode(nodeStep.drain), spotpool.KindUncordon: a.onNode(nodeStep.uncordon),
		spotpool.KindDeleteNode: a.onNode(nodeStep.deleteNode),
		spotpool.KindEndToken:   func(ctx context.Context, d spotpool.Decision) error { return tokenStep{a, d}.delete(ctx) },
	}
}

// launch creates a bootstrap token if the instances need one, records the pending launch,
// requests it, and records the outcome, in this order. It records even after the context has
// ended, since an accepted launch must not be forgotten.
func (a *actor) launch(ctx context.Context, d spotpool.Decision) error {
	request, ready, err := tokenStep{a, d}.addToken(ctx, *d.Request)
	if err != nil || !ready {
		return err
	}
	var written journal.Journal
	if d.Resume {
		written = a.journal.Value.Retry(request.Sequence, a.observation.At)
	} else {
		a.pass.soFar.Launched += d.Count
		written = a.journal.Value.Open(launches.Launch{Request: request, WrittenAt: a.observation.At, Reasons: d.Reasons, Price: d.Price, Currency: d.Currency})
	}
	if err := a.writeJournal(ctx, written); err != nil {
		return err
	}
	calling, done := record.WithGrace(ctx)
	defer done()
	ids, at, err := a.flow.Cloud.Launch(calling, request)
	a.flow.forgetRegion(request.Region)
	if errors.Is(err, outcome.ErrPlanned) {
		return err
	}
	if err == nil {
		d.InstanceIDs = ids
		a.note(ctx, d, outcome.Done, nil)
		return a.record(ctx, a.journal.Value.Accept(request.Sequence, ids, at))
	}
	return a.recordRefusal(ctx, d, err)
}

// recordRefusal records why a call for a launch failed. The launch stays pending, unless it
// certainly launched nothing.
func (a *actor) recordRefusal(ctx context.Context, d spotpool.Decision, err error) error {
	noted, state := a.journal.Value, launches.State("")
	refusal, known := spotpool.AsCloudError(err)
	if known {
		noted, state = noted.Refuse(d.Sequence, refusal, a.pass.declaration.Cooldown, a.observation.At)
	}
	if state != launches.Refused {
		a.pass.uncertain = true
		a.halt(ctx, d, fmt.Errorf("the outcome of launch %d is unknown, and the next run retries it: %w", d.Sequence, err))
		return a.record(ctx, noted)
	}
	if !d.Resume {
		a.pass.soFar.Launched -= d.Count
	}
	if err := a.record(ctx, noted); err != nil {
		return err
	}
	if refusal.Scope == spotpool.ScopePool || refusal.Class == errorclass.Transient {
		a.halt(ctx, d, err)
		return nil
	}
	a.note(ctx, d, outcome.Short, err)
	return nil
}

// terminate terminates instances, after it checked their nodes again. It records the IDs
// first, so that a run after a kill does not count them as lost.
func (a *actor) terminate(ctx context.Context, d spotpool.Decision) error {
	d, err := a.recheck(ctx, d)
	if err != nil || len(d.InstanceIDs) == 0 {
		return err
	}
	if err := a.writeJournal(ctx, a.journal.Value.Terminate(d.InstanceIDs, a.observation.At, d.Reasons...)); err != nil {
		return err
	}
	var instances []spotpool.Instance
	for _, i := range a.observation.Instances {
		if slices.Contains(d.InstanceIDs, i.ID) {
			instances = append(instances, i)
		}
	}
	calling, done := record.WithGrace(ctx)
	defer done()
	ended, err := a.flow.Cloud.Terminate(calling, a.pass.declaration.Region, instances)
	if errors.Is(err, outcome.ErrPlanned) {
		return err
	}
	a.flow.forgetRegion(a.pass.declaration.Region)
	a.flow.forgetMarkets(a.pass.declaration.Region) // terminated instances free quota and stock
	a.observation = withTerminating(a.observation, ended)
	for _, id := range d.InstanceIDs {
		if !slices.Contains(ended, id) {
			a.pass.soFar.Refused = append(a.pass.soFar.Refused, id)
		}
	}
	var refused interface{ NotEnded() []string }
	if errors.As(err, &refused) {
		if err := a.recordKept(ctx, instances, refused.NotEnded()); err != nil {
			return err
		}
	}
	if len(ended) == 0 && d.Refresh {
		a.pass.soFar.Refreshed = false // others may be replaced instead
	}
	switch {
	case err != nil:
		a.fail(ctx, d, err)
	case len(ended) < len(d.InstanceIDs):
		a.fail(ctx, d, errNotYet)
	default:
		a.note(ctx, d, outcome.Done, nil)
	}
	return nil
}

// recordKept records that running instances are not terminated: they count as working again.
func (a *actor) recordKept(ctx context.Context, instances []spotpool.Instance, refused []string) error {
	var ids []string
	for _, i := range instances {
		if i.State == spotpool.StateRunning && slices.Contains(refused, i.ID) {
			ids = append(ids, i.ID)
		}
	}
	j := a.journal.Value
	j.Fleet = j.Keep(ids, a.observation.At)
	return a.record(ctx, j)
}

// errNotYet says that Tencent Cloud refuses a termination now, and will accept it later.
var errNotYet = errors.New("some instances cannot be terminated while they start or stop; the next run terminates them")

// halt notes that a launch failed for a reason that applies to every launch. The run launches
// nothing more, but still terminates.
func (a *actor) halt(ctx context.Context, d spotpool.Decision, err error) {
	a.pass.soFar.Halted = err.Error()
	a.fail(ctx, d, err)
}

// fail notes a failed decision. The first failure is the pool's.
func (a *actor) fail(ctx context.Context, d spotpool.Decision, err error) {
	if a.pass.failure == nil {
		a.pass.failure = err
	}
	a.noteFailure(ctx, d, err)
}

// noteFailure notes a failed decision, which is not the pool's failure.
func (a *actor) noteFailure(ctx context.Context, d spotpool.Decision, err error) {
	// A decision that fails repeatedly is reported once.
	a.pass.results = slices.DeleteFunc(a.pass.results, func(r outcome.Result) bool {
		of, ok := r.Decision.(spotpool.Decision)
		return ok && r.Outcome == outcome.Failed && of.Kind == d.Kind && of.Sequence == d.Sequence && slices.Equal(of.InstanceIDs, d.InstanceIDs)
	})
	a.note(ctx, d, outcome.Failed, err)
}

// note notes and logs the outcome of a decision.
func (a *actor) note(ctx context.Context, d spotpool.Decision, of outcome.Outcome, err error) {
	result := outcome.Of(d, of, err)
	a.pass.results = append(a.pass.results, result)
	a.flow.Reporter.LogDecision(ctx, result)
	if err != nil {
		a.flow.Reporter.Report(d.Object, err.Error(), nil)
	}
}

// withTerminating returns the observation after the termination of instances was accepted.
func withTerminating(o spotpool.Observation, ids []string) spotpool.Observation {
	o.Instances = slices.Clone(o.Instances)
	for n := range o.Instances {
		if slices.Contains(ids, o.Instances[n].ID) {
			o.Instances[n].State = spotpool.StateTerminating
		}
	}
	return o
}
