package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/pauses"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/loop"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// actor carries out the decisions about one budget under its lock, some in each of its turns.
type actor struct {
	*kind
	cluster     Cluster
	books       *accounting.Books
	pauser      pauses.Pauser
	declaration budget.Declaration
	judgement   judgement
	decided     bool // by the current pods
	pausing     podPauses
	// queue and reserves are the remaining decisions of the plan.
	queue, reserves []budget.Decision
	results         []outcome.Result
	// done had their effect; planned were refused by a dry run.
	done, planned []budget.Decision
	// unknown failed, and may still have had their effect.
	unknown []budget.Decision
	// announced is how many decisions at the head of the queue the status has as about to be done.
	announced int
	// notFrozen says that the freeze failed: evicted pods would be replaced.
	notFrozen bool
	// failed counts failed evictions.
	failed int
	// failure is the first failure; nil if there is none.
	failure error
	// givenUp is why some decisions were not started; zero if all were.
	givenUp loop.Ending
	// eventsFailed says that an Event could not be created.
	eventsFailed bool
	// frozenAt is when this run's own freeze began.
	frozenAt time.Time
	// withdrawn are the UIDs of waiting pods whose workloads this run paused: their controllers are
	// about to delete them.
	withdrawn []string
}

// maxFailures is how many evictions of a run may fail, without blocked ones, before no reserves replace them:
// the cause is then not the pods.
const maxFailures = 10

// turnSize is how many decisions about one budget are carried out before the next budget's turn: no
// limit waits for all workloads of another.
const turnSize = pauses.BatchSize

func (a *actor) ending() ending {
	end := ending{became: outcome.Done, done: a.done, planned: a.planned, unknown: a.unknown}
	failure := a.failure
	if left := a.judgement.plan.LeftIneffective(a.done); a.decided && len(left) > 0 {
		failure = errors.Join(failure, &budget.IneffectiveError{
			Effects: left, Evicts: a.declaration.Enforce.OnIneffective == budget.FallbackEvict,
		})
	}
	switch {
	case failure != nil:
		end.became, end.why = outcome.Failed, failure
	case a.givenUp.Became != "":
		end.became, end.why = a.givenUp.Became, a.givenUp.Why
	case !a.decided:
		end.became = outcome.Failed
	case outcome.AnyPlanned(a.results):
		end.became = outcome.Planned
	}
	return end
}

// doSome carries out the decisions of one turn in sequence. The next reserve replaces an eviction
// without effect, whatever prevented it.
func (a *actor) doSome(ctx context.Context) {
	for left := turnSize; left > 0 && len(a.queue) > 0; {
		if !a.yieldToPauses(ctx) {
			return
		}
		some := a.queue[:batchLength(a.queue[:min(left, len(a.queue))])]
		switch d := some[0]; {
		case d.Kind == budget.KindEvict:
			a.awaitFreeze(ctx)
		case d.Kind == budget.KindPause && len(d.Waiting) == 0:
			a.awaitWithdrawn(ctx)
		}
		if ctx.Err() != nil {
			a.giveUp(ctx, stopEnding(ctx))
			return
		}
		a.recordIntent(ctx, some, left)
		a.queue = a.queue[len(some):]
		a.announced -= len(some)
		left -= len(some)
		if some[0].Kind == budget.KindEvict && a.notFrozen {
			a.addResult(ctx, some[0], outcome.Skipped, errNotFrozen)
			continue
		}
		a.carryOut(ctx, some)
	}
}

// yieldToPauses evicts no pod whose workload a budget pauses in this run. A paused Job starts again;
// one whose pod is evicted may fail for good. It returns false if all that is left waits for such pauses.
func (a *actor) yieldToPauses(ctx context.Context) bool {
	for waiting := 0; waiting < len(a.queue); {
		d := a.queue[0]
		if d.Kind != budget.KindEvict {
			return true
		}
		pause, found := a.pausing.of(d.Pod)
		if !found {
			return true
		}
		a.queue = a.queue[1:]
		a.announced = max(0, a.announced-1)
		if !pause.done {
			a.queue = append(a.queue, d)
			waiting++
			continue
		}
		a.addResult(ctx, d, outcome.Skipped, fmt.Errorf("the budget %s pauses its workload in this run: it is not evicted", pause.budget))
	}
	return false
}

// recordIntent records what this turn is about to do to pods and workloads, so that it is reported even
// if the run is killed. It records each decision once.
func (a *actor) recordIntent(ctx context.Context, some []budget.Decision, left int) {
	if kind := some[0].Kind; a.announced > 0 || kind != budget.KindEvict && kind != budget.KindPause && kind != budget.KindResume {
		return
	}
	next := a.queue[:min(left, len(a.queue))]
	status := a.judgement.plan.StatusBefore(a.done, slices.Concat(a.unknown, next))
	saved, err := a.saveStatus(ctx, a.judgement.document, status)
	if err != nil { // the decisions are carried out nevertheless
		a.warn(reason.IntentUnrecorded(reason.Failure(err)))
		return
	}
	a.judgement.document, a.announced = saved, len(next)
}

// batchLength returns how many of the first decisions can be carried out together: workloads are paused
// or resumed in batches. Those that only wait are not in one batch with those whose GPUs they would
// get.
func batchLength(queue []budget.Decision) int {
	first := queue[0]
	if first.Kind != budget.KindPause && first.Kind != budget.KindResume {
		return 1
	}
	for n, d := range queue {
		if d.Kind != first.Kind || len(d.Waiting) == 0 != (len(first.Waiting) == 0) {
			return n
		}
	}
	return len(queue)
}

// giveUp skips the remaining decisions.
func (a *actor) giveUp(ctx context.Context, e loop.Ending) {
	a.givenUp = e
	for _, d := range a.queue {
		a.pausing.settle(a.declaration.Name, d, false)
		a.addResult(ctx, d, outcome.Skipped, e.Why)
	}
	a.queue = nil
}

// carryOut carries out one decision or one batch.
func (a *actor) carryOut(ctx context.Context, some []budget.Decision) {
	for _, d := range some {
		a.flow.Reporter.Report(d.Object, d.Summary(), nil)
	}
	calling, release := record.WithGrace(ctx)
	defer release()
	var errs []error
	switch d := some[0]; d.Kind {
	case budget.KindPause:
		a.pauser.CronJobs = map[string]string{}
		for _, d := range some {
			a.pauser.CronJobs[d.Owner.UID] = d.CronJob
		}
		errs = a.pauser.Pause(ctx, owners(some))
	case budget.KindResume:
		errs = a.pauser.Resume(ctx, owners(some))
	default:
		errs = []error{a.do(calling, d)}
	}
	for n, d := range some {
		if errors.Is(errs[n], pauses.ErrNotStarted) {
			a.givenUp = stopEnding(ctx)
			a.pausing.settle(a.declaration.Name, d, false)
			a.addResult(ctx, d, outcome.Skipped, a.givenUp.Why)
			continue
		}
		a.recordOutcome(calling, d, errs[n])
	}
}

// warn warns about the budget.
func (a *actor) warn(why reason.Reason) {
	a.warnings.Warn(reason.AboutBudget(reason.Object(a.declaration.Object()), why))
}

func owners(decisions []budget.Decision) []budget.Workload {
	list := make([]budget.Workload, len(decisions))
	for n, d := range decisions {
		list[n] = *d.Owner
	}
	return list
}

// recordOutcome records the outcome of a decision, and creates its Event.
func (a *actor) recordOutcome(ctx context.Context, d budget.Decision, err error) {
	if d.Kind == budget.KindPause {
		a.pausing.settle(a.declaration.Name, d, err == nil || errors.Is(err, outcome.ErrPlanned))
	}
	if errors.Is(err, outcome.ErrPlanned) {
		a.planned = append(a.planned, d)
		a.addResult(ctx, d, outcome.Planned, nil)
		return
	}
	if err == nil {
		a.announce(ctx, d)
	}
	became := a.outcome(d, err)
	a.addResult(ctx, d, became, err)
	if became == outcome.Skipped {
		known := len(a.judgement.plan.Turned)
		a.judgement.plan = a.judgement.plan.Refuse(d, err)
		a.announceIneffective(ctx, a.judgement.plan.Turned[known:])
	}
	var left *budget.NotPausedError
	if became == outcome.Done || errors.As(err, &left) && left.Released {
		a.done = append(a.done, d)
		a.withdrawn = append(a.withdrawn, d.Waiting...)
	}
	if became == outcome.Failed {
		a.unknown = append(a.unknown, d)
	}
	victim := d.Kind == budget.KindEvict && !d.Pod.Waits()
	if became == outcome.Failed && victim {
		a.failed++
	}
	if victim && became != outcome.Done && a.failed <= maxFailures && len(a.reserves) > 0 {
		a.queue = append(a.queue, a.reserves[0])
		a.reserves = a.reserves[1:]
	}
}

// addResult adds and logs the result of a decision.
func (a *actor) addResult(ctx context.Context, d budget.Decision, became outcome.Outcome, err error) {
	result := outcome.Of(d, became, err)
	a.results = append(a.results, result)
	a.flow.Reporter.LogDecision(ctx, result)
}

var errNotFrozen = errors.New("the freeze failed, and evicted pods would be replaced at once: nothing is evicted")

func (a *actor) outcome(d budget.Decision, err error) outcome.Outcome {
	var blocked *budget.EvictionBlockedError
	var left *budget.NotPausedError
	switch {
	case err == nil:
		return outcome.Done
	case errors.As(err, &blocked), errors.As(err, &left):
		a.flow.Reporter.Report(d.Object, err.Error(), nil)
		return outcome.Skipped
	}
	a.notFrozen = a.notFrozen || d.Kind == budget.KindFreeze
	a.failure = cmp.Or(a.failure, err)
	a.flow.Reporter.Report(d.Object, err.Error(), nil)
	return outcome.Failed
}

func (a *actor) do(ctx context.Context, d budget.Decision) error {
	c, uid := a.cluster, a.declaration.UID
	switch d.Kind {
	case budget.KindAlert:
		return a.alert(ctx, d)
	case budget.KindFreeze:
		err := c.Freeze(ctx, a.freezeRule())
		if err == nil {
			a.frozenAt = a.flow.now()
		}
		return err
	case budget.KindUnfreeze:
		return c.Unfreeze(ctx, uid)
	case budget.KindEvict, budget.KindShorten:
		e := budget.Eviction{
			PodRef: budget.PodRef{Namespace: d.Pod.Namespace, Name: d.Pod.Name, UID: d.Pod.UID}, Grace: a.declaration.Enforce.GraceOf(d.Pod.TerminationGrace),
		}
		if d.Pod.Waits() {
			e.Waiting = d.Pod.ResourceVersion
		}
		return c.Evict(ctx, e)
	}
	return fmt.Errorf("unknown kind of decision %q", d.Kind)
}
