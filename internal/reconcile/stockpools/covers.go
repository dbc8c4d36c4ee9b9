package stockpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// limits are the budgets of a store and their usage.
type limits struct {
	*Ports
	budgets []limit
	// made are the statuses that this run has made, by the budget's name. They are preferred to
	// those in the store.
	made map[string]budget.Status
	mu   sync.Mutex
	// read caches the statuses.
	read    map[string]readStatus
	classes once[map[string]int32] // the cluster's priority classes, by name
}

type readStatus struct {
	status budget.Status
	err    error
}

type limit struct {
	record.Listed[budget.Declaration]
	// unread reports that the record is unreadable or lost.
	unread bool
	// lostIn is the cluster of a budget whose record is lost; empty if unknown.
	lostIn      string
	declaration budget.Declaration
	takes       *budget.Matcher // nil if it is unreadable
	counts      *gpu.Table      // weights of resources in GPUs; the defaults if those are unreadable
}

// readLimits reads the store's budgets, and the remains of those whose records are lost.
func (p *Ports) readLimits(ctx context.Context, made map[string]budget.Status) (*limits, error) {
	list, err := record.Budgets(p.Repository).List(ctx)
	if err != nil {
		return nil, err
	}
	l := &limits{Ports: p, budgets: make([]limit, len(list)), made: made, read: map[string]readStatus{}}
	for n, listed := range list {
		of := limit{Listed: listed, unread: listed.Err != nil, declaration: listed.Record.Declaration.WithDefaults()}
		if listed.Err == nil {
			of.Err = of.prepare()
		}
		if of.counts == nil {
			of.counts, _ = gpu.Rules{}.Table()
		}
		l.budgets[n] = of
	}
	names := map[string]bool{}
	for _, of := range l.budgets {
		names[of.Key] = true
	}
	lost, err := record.LostBudgets(ctx, p.Repository.Store, record.Recorded{
		UID: func(uid string) bool {
			return slices.ContainsFunc(l.budgets, func(of limit) bool { return !of.unread && of.declaration.UID == uid })
		},
		Budget: func(name string) bool { return names[name] },
	})
	for _, of := range lost {
		l.budgets = append(l.budgets, limitOfLost(of))
	}
	return l, err
}

// limitOfLost returns a budget whose record is lost: it may cover any pool of its cluster.
func limitOfLost(o record.Orphan) limit {
	l := limit{unread: true, lostIn: o.ClusterUID}
	l.Key = cmp.Or(strings.TrimPrefix(o.Object, "budget/"), o.UID)
	l.Err = fmt.Errorf("its record is lost, and %s is left: restore the record from a backup, or run gpupool reconcile --from-state FILE", o.DocumentNames())
	l.counts, _ = gpu.Rules{}.Table()
	return l
}

// prepare evaluates the selector and the weights.
func (l *limit) prepare() (err error) {
	if l.takes, err = l.declaration.Selector.Matcher(); err != nil {
		return fmt.Errorf("its selector is invalid: %w", err)
	}
	if l.counts, err = (gpu.Rules{Weights: l.declaration.ResourceWeights}).Table(); err != nil {
		return fmt.Errorf("its resource_weights are invalid: %w", err)
	}
	return nil
}

// mayCover reports whether the budget may count pods of the pool, even if parts of it are
// unreadable.
func (l limit) mayCover(d stockpool.Declaration) bool {
	if l.unread {
		return l.lostIn == "" || l.lostIn == d.ClusterUID
	}
	return l.declaration.ClusterUID == d.ClusterUID && l.Record.Phase == declaration.Active
}

// covers returns the budgets that a pool respects. Those cover its pods with GPUs, may cover
// them, leave counted pods to it, or are named by it. Pods follow from the declaration and the
// pool's own Deployment, so that changes of either do not evade a budget.
func (l *limits) covers(ctx context.Context, p *pass) []decide.Cover {
	d, pods, now := p.declaration, p.templates(), p.now()
	var covers []decide.Cover
	named := d.Budget == ""
	for _, of := range l.budgets {
		names := of.Key == d.Budget
		named = named || names
		var counted []podTemplate
		if of.mayCover(d) {
			counted = of.counted(pods)
		}
		left, since := l.isLeftToPool(p, of)
		switch {
		case of.Err != nil && names:
			covers = append(covers, unknown(of.Key, of.Err))
		case of.Err != nil && counted != nil:
			why := reason.CoverUnknown(budgetObject(of.Key), reason.Failure(of.Err))
			covers = append(covers, decide.Cover{Budget: of.Key, Unknown: true, Reason: why})
		case of.Err == nil && left && counted == nil:
			c := l.cover(ctx, of, pods[:1], pods, now)
			c.ByDrift, c.ByPods, c.WaitsUntil = false, true, since.Add(budget.EffectTimeout)
			covers = append(covers, l.sparing(ctx, p, of, c))
		case of.Err == nil && (names || counted != nil):
			covers = append(covers, l.sparing(ctx, p, of, l.cover(ctx, of, counted, pods, now)))
		}
	}
	if !named {
		covers = append(covers, l.undeclared(ctx, d.Budget))
	}
	return covers
}

// isLeftToPool reports whether a budget leaves pods that it counts by their own labels to the pool,
// and since when. This run or an earlier pause may have noted that. A declaration that changed
// since may have other pods, and pods that the budget does not count end the note.
func (l *limits) isLeftToPool(p *pass, of limit) (left bool, since time.Time) {
	j := p.journal.Value
	left = j.Generation == p.declaration.Generation && slices.Contains(j.CountedBy, of.Key) && !of.countsNone(p)
	if of.unread || of.declaration.ClusterUID != p.declaration.ClusterUID {
		return false, since
	}
	for _, e := range l.made[of.Key].Effects {
		if e.StockPool == p.declaration.Object() {
			return true, e.Since
		}
	}
	return left, since
}

// countsNone reports whether the pool has pods, and their own labels are none of the budget's.
func (l limit) countsNone(p *pass) bool {
	return l.takes != nil && len(p.observation.Pods) > 0 && !slices.ContainsFunc(p.observation.Pods, func(pod stockpool.Pod) bool {
		return l.takes.Matches(labelSet(p.declaration, pod.Labels, p.observation.NamespaceLabels))
	})
}

func unknown(name string, err error) decide.Cover {
	return decide.Cover{Budget: name, Unknown: true, Reason: reason.UsageUnknown(budgetObject(name), reason.Failure(err))}
}

func budgetObject(name string) reason.Object { return reason.Object("budget/" + name) }

// undeclared returns the cover of a named budget without a record in the store.
func (l *limits) undeclared(ctx context.Context, name string) decide.Cover {
	r, err := l.Repository.NamedBudget(ctx, name)
	if err == nil { // it was declared just now
		_, err = l.status(ctx, r.Value)
		return unknown(name, cmp.Or(err, errors.New("it was evaluated just now")))
	}
	return decide.Cover{Budget: name, Unknown: true, Reason: reason.BudgetMissing(budgetObject(name), reason.Failure(err))}
}

// cover returns the effect of a budget on a pool, given the pods that it counts.
func (l *limits) cover(ctx context.Context, of limit, counted, pods []podTemplate, now time.Time) decide.Cover {
	name := of.declaration.Name
	status, err := l.status(ctx, of.Record)
	if err != nil {
		return unknown(name, err)
	}
	c := decide.Cover{Budget: name, Exceeded: status.Usage.Exceeded(), ByDrift: counted != nil && !counted[0].declared}
	if !c.Exceeded {
		return c
	}
	var unsure reason.Reason
	switch {
	case counted == nil: // only the pool names it
		counted, unsure = pods[:1], reason.NoResourcesCounted()
	case !slices.ContainsFunc(counted, of.certainlyUsesGPUs):
		unsure = reason.TemplateUncertain()
	}
	usedUp := reason.UsedUp
	if c.ByDrift {
		usedUp = reason.UsedUpByDrift
	}
	c.Reason = usedUp(budgetObject(name), reason.Amount(budget.Hours(status.Usage.Consumed)), reason.Amount(budget.Hours(status.Usage.Limit)))
	leaves := func(p podTemplate) bool {
		return !of.declaration.Stops(status, p.set, l.Repository.Store.Location().Namespace, now)
	}
	if slices.ContainsFunc(counted, leaves) {
		return c
	}
	if c.Pauses = unsure.IsZero(); !c.Pauses {
		c.Reason = reason.UsedUpNotPaused(c.Reason, unsure)
	}
	return c
}

// status returns the status of a budget. The error is why it is unknown or unreliable.
func (l *limits) status(ctx context.Context, of declaration.Budget) (budget.Status, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := of.Declaration.Name
	known, ok := l.read[name]
	if !ok {
		known.status, ok = l.made[name]
		if !ok {
			known.status, ok, known.err = l.Repository.LimitedStatus(ctx, of.Declaration, l.Clock())
		}
		switch {
		case known.err != nil:
		case !ok:
			known.err = fmt.Errorf("it has no status in the store %s yet: run gpupool reconcile", l.Repository.Store)
		default:
			known.err = declaration.Trust(of, known.status, l.Clock())
		}
		l.read[name] = known
	}
	return known.status, known.err
}

// NotCoveredError reports that a pool names a budget that does not cover its pods.
type NotCoveredError struct{ Pool, Budget, Why string }

func (e *NotCoveredError) Error() string {
	return fmt.Sprintf("the stock pool %s names the budget %s, %s. Add labels that the budget selects, or omit budget", e.Pool, e.Budget, e.Why)
}

// refuseBudget returns why a pool cannot name this budget; nil if it can, or if the store has
// no record of it yet.
func (l *limits) refuseBudget(d stockpool.Declaration, namespaceLabels map[string]string) error {
	for _, of := range l.budgets {
		switch {
		case of.Key != d.Budget || of.Err != nil:
		case of.declaration.ClusterUID != d.ClusterUID:
			return &NotCoveredError{d.Key(), d.Budget, "which is of another cluster"}
		case !of.takes.Matches(labelSet(d, d.PodLabels(), namespaceLabels)):
			return &NotCoveredError{d.Key(), d.Budget, "whose selector does not take its pods"}
		}
	}
	return nil
}
