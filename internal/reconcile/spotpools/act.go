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

// act observes the pool, decides, and carries the decisions out one by one, deciding
// again after each. The pool's lock must be held. An error means that the pool could not
// be observed or recorded; refusals of the cloud are noted in the pass.
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
	if err := sameAccount(d, observation.AccountID); err != nil {
		return err
	}
	if p.hold, err = p.flow.holdOn(ctx, d); err != nil {
		return err
	}
	p.soFar.Refused, p.soFar.Halted = nil, "" // what was refused before may be granted now
	p.soFar.Drained, p.soFar.Uncordoned, p.soFar.Forgotten, p.soFar.TokensEnded = nil, nil, nil, nil
	acting := &actor{flow: p.flow, pass: p, journal: j, observation: observation}
	return acting.decideAndDo(ctx)
}

// actor carries out the decisions about one pool under its lock.
type actor struct {
	flow        *Flow
	pass        *pass
	journal     document
	observation spotpool.Observation
	counted     bool // it was tried to count the pods with GPUs
}

// decideAndDo decides and acts until nothing is left to decide. Each decision changes what
// the next one sees; a refusal does, too, as it rules out what was refused.
func (a *actor) decideAndDo(ctx context.Context) error {
	for {
		plan := decide.Decide(a.pass.situation(a.observation, a.flow.unreported(a.journal.Value)))
		if plan.Chooses() && a.count(ctx) {
			continue // with who has pods with GPUs
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
		// In a dry run all decisions of the first plan are noted; else the first is done,
		// and the rest is decided anew.
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

// noteInterrupt says whether the context has ended, which is then the pass's failure,
// if none came before.
func (a *actor) noteInterrupt(ctx context.Context) bool {
	if a.pass.failure == nil {
		a.pass.failure = context.Cause(ctx)
	}
	return ctx.Err() != nil
}

// writeJournal writes the journal if it changed.
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

// cluster is the one that the pool's nodes are of.
func (a *actor) cluster(ctx context.Context) (Cluster, error) {
	return a.flow.clusterOf(ctx, a.pass.declaration)
}

// rememberFleet and rememberTokens write a part of the journal.
func (a *actor) rememberFleet(ctx context.Context, f fleet.Fleet) error {
	j := a.journal.Value
	j.Fleet = f
	return a.writeJournal(ctx, j)
}

func (a *actor) rememberTokens(ctx context.Context, list launches.Tokens) error {
	j := a.journal.Value
	j.Tokens = list
	return a.writeJournal(ctx, j)
}

func (a *actor) do(ctx context.Context, d spotpool.Decision) error {
	if a.steps()[d.Kind] == nil {
		return fmt.Errorf("%s: this version cannot carry out a decision of kind %q", d.Object, d.Kind)
	}
	a.tell(d)
	if d.Refresh && d.Kind != spotpool.KindDrain { // a drain and the end that it is for are one step
		a.pass.soFar.Refreshed = true
	}
	err := a.steps()[d.Kind](ctx, d)
	if errors.Is(err, outcome.ErrPlanned) {
		a.note(ctx, d, outcome.Planned, nil)
	}
	return err
}

// tell shows which decision is carried out next.
func (a *actor) tell(d spotpool.Decision) {
	a.flow.Reporter.Report(d.Object, d.String(), &a.pass.latest.plan.Counts)
}

// steps are what carries the kinds of decisions out.
func (a *actor) steps() map[spotpool.Kind]func(context.Context, spotpool.Decision) error {
	return map[spotpool.Kind]func(context.Context, spotpool.Decision) error{
		spotpool.KindLaunch: a.launch, spotpool.KindTerminate: a.terminate,
		spotpool.KindDrain: a.onNode(nodeStep.drain), spotpool.KindUncordon: a.onNode(nodeStep.uncordon),
		spotpool.KindDeleteNode: a.onNode(nodeStep.deleteNode),
		spotpool.KindEndToken:   func(ctx context.Context, d spotpool.Decision) error { return tokenStep{a, d}.end(ctx) },
	}
}

// launch has a token made by which the instances join, where they need one, writes the
// intent, asks the cloud, and records the outcome, in this order.
// It records even after the context has ended, since an accepted launch must not be
// forgotten because of an interrupt.
func (a *actor) launch(ctx context.Context, d spotpool.Decision) error {
	request, minted, err := tokenStep{a, d}.mint(ctx, *d.Request)
	if err != nil || !minted {
		return err
	}
	var written journal.Journal
	if d.Resume {
		written = a.journal.Value.Repeat(request.Sequence, a.observation.At)
	} else {
		a.pass.soFar.Launched += d.Count
		written = a.journal.Value.Open(launches.Launch{Request: request, WrittenAt: a.observation.At, Reasons: d.Reasons, Price: d.Price})
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
	return a.notLaunched(ctx, d, err)
}

// notLaunched records why a call for a launch failed. Unless that says for certain that
// nothing was launched, the launch stays open.
func (a *actor) notLaunched(ctx context.Context, d spotpool.Decision, err error) error {
	noted, state := a.journal.Value, launches.State("")
	refusal, known := spotpool.AsCloudError(err)
	if known {
		noted, state = noted.Refuse(d.Sequence, refusal, a.pass.declaration.Cooldown, a.observation.At)
	}
	if state != launches.Refused {
		a.pass.uncertain = true
		a.halt(ctx, d, fmt.Errorf("the outcome of launch %d is unknown, and the next run will ask for it again: %w", d.Sequence, err))
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

// terminate ends instances, after it rechecked their nodes. It notes the ids first, so
// that a run after a kill does not take their disappearance for a reclaim.
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
	a.flow.forgetMarkets(a.pass.declaration.Region) // what ends gives quota and stock back
	a.observation = withEnding(a.observation, ended)
	for _, id := range d.InstanceIDs {
		if !slices.Contains(ended, id) {
			a.pass.soFar.Refused = append(a.pass.soFar.Refused, id)
		}
	}
	var refused interface{ NotEnded() []string }
	if errors.As(err, &refused) {
		if err := a.rememberRefused(ctx, instances, refused.NotEnded()); err != nil {
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

// rememberRefused notes that running instances do not end after all: they count as
// working again.
func (a *actor) rememberRefused(ctx context.Context, instances []spotpool.Instance, refused []string) error {
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

// errNotYet says that the cloud refuses something now and will do it later.
var errNotYet = errors.New("some instances can't be ended while they are starting or stopping; the next run ends them")

// halt notes that a launch failed for a reason that every other launch would meet:
// the run launches nothing more, but still ends what it should.
func (a *actor) halt(ctx context.Context, d spotpool.Decision, err error) {
	a.pass.soFar.Halted = err.Error()
	a.fail(ctx, d, err)
}

// fail notes a failed decision. The first failure becomes the pool's.
func (a *actor) fail(ctx context.Context, d spotpool.Decision, err error) {
	if a.pass.failure == nil {
		a.pass.failure = err
	}
	a.failed(ctx, d, err)
}

// failed notes a failed decision, which is not the pool's failure.
func (a *actor) failed(ctx context.Context, d spotpool.Decision, err error) {
	// A decision that fails again and again is reported once.
	a.pass.results = slices.DeleteFunc(a.pass.results, func(r outcome.Result) bool {
		of, ok := r.Decision.(spotpool.Decision)
		return ok && r.Outcome == outcome.Failed && of.Kind == d.Kind && of.Sequence == d.Sequence && slices.Equal(of.InstanceIDs, d.InstanceIDs)
	})
	a.note(ctx, d, outcome.Failed, err)
}

// note notes what became of a decision, and tells of it.
func (a *actor) note(ctx context.Context, d spotpool.Decision, became outcome.Outcome, err error) {
	result := outcome.Of(d, became, err)
	a.pass.results = append(a.pass.results, result)
	a.flow.Reporter.LogDecision(ctx, result)
	if err != nil {
		a.flow.Reporter.Report(d.Object, err.Error(), nil)
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
