// Package snapshot is what the API and the metrics read: the state of all objects. Concurrent
// readers share it. It is built on demand, so that an idle server reads nothing.
package snapshot

import (
	"context"
	"errors"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// Kind is a kind of objects.
type Kind string

// The kinds of objects. All is a status of all kinds.
const (
	All        Kind = ""
	SpotPools  Kind = "spot_pool"
	Budgets    Kind = "budget"
	StockPools Kind = "stock_pool"
)

const (
	// observedAtMost is the age of observations of Tencent Cloud and of the cluster.
	observedAtMost = 10 * time.Second
	// A change of the store is visible after usable, at most. The difference is for a read of the store.
	fresh  = 800 * time.Millisecond
	usable = 1900 * time.Millisecond
	// Explanations and usage scan the pods of the cluster.
	scansAtOnce = 2
	// Usage as of the last run reads the ledger, and changes with the next run only.
	recordedFor  = 10 * time.Minute
	ledgerAtOnce = 1
)

// pageAges are the ages of statuses for pages. Budgets change with a run only, and a page is warm after each.
var pageAges = ages{10 * time.Second, time.Minute}

// Source reads a world.
type Source struct {
	world     reconcile.World
	ages      ages // of statuses
	statuses  map[Kind]*shared[*Status]
	explained *keyed[reconcile.Explanation]
	usage     *keyed[budgets.LiveUsage]
	recorded  *keyed[budgets.RecordedUsage]
	declared  *shared[[]string]
	queue     *shared[queue]
}

// queue is all jobs, the latest first.
type queue struct {
	jobs       []request.Job
	unreadable []error
}

// New returns a source. It changes nothing in the world.
func New(w reconcile.World) *Source {
	s := &Source{
		world: w.Observer(observedAtMost), ages: ages{fresh, usable}, statuses: map[Kind]*shared[*Status]{},
		explained: newKeyed[reconcile.Explanation](ages{usable, usable}, scansAtOnce),
		usage:     newKeyed[budgets.LiveUsage](ages{observedAtMost, observedAtMost}, scansAtOnce),
		recorded:  newKeyed[budgets.RecordedUsage](ages{recordedFor, recordedFor}, ledgerAtOnce),
	}
	s.declared = &shared[[]string]{ages: ages{fresh, usable}, build: s.list}
	s.queue = &shared[queue]{ages: ages{fresh, usable}, build: func(ctx context.Context) (q queue, err error) {
		q.jobs, q.unreadable, err = s.world.Jobs().Jobs(ctx)
		return q, err
	}}
	for _, kind := range []Kind{All, SpotPools, Budgets, StockPools} {
		s.statuses[kind] = &shared[*Status]{ages: ages{fresh, usable}, build: func(ctx context.Context) (*Status, error) {
			report, err := s.world.Runner().StatusOf(ctx, string(kind))
			if err != nil {
				return nil, err
			}
			return (&Status{StatusReport: report.NoNulls()}).renewed(s.statuses[kind].latest()), nil
		}}
	}
	return s
}

// ForPages returns the source for pages. They reload themselves, and so get an older state at once.
func (s *Source) ForPages() *Source {
	of := *s
	of.ages = pageAges
	return &of
}

// Warm builds the state of all objects, so that the next page need not wait. It returns at once.
func (s *Source) Warm(ctx context.Context) {
	all := s.statuses[All]
	all.mu.Lock()
	defer all.mu.Unlock()
	all.start(ctx)
}

// Status returns the state of the objects of a kind. It is shared: do not change it.
func (s *Source) Status(ctx context.Context, kind Kind) (reconcile.StatusReport, error) {
	status, err := s.Shared(ctx, kind)
	if err != nil {
		return reconcile.StatusReport{}, err
	}
	return status.StatusReport, nil
}

// Current returns the state of the objects of a kind after all changes of the store so far. Counters
// need it: a server with an older state would let them fall.
func (s *Source) Current(ctx context.Context, kind Kind) (reconcile.StatusReport, error) {
	status, err := s.statuses[kind].current(ctx)
	if err != nil {
		return reconcile.StatusReport{}, err
	}
	return status.StatusReport, nil
}

// Shared returns the state of the objects of a kind, with what readers derived from it.
func (s *Source) Shared(ctx context.Context, kind Kind) (*Status, error) {
	return s.statuses[kind].within(ctx, s.ages)
}

// Declared returns the declared objects, such as "budget/team-a".
func (s *Source) Declared(ctx context.Context) ([]string, error) {
	return s.declared.within(ctx, s.ages)
}

// Jobs returns the jobs of the store, the latest first, and errors about unreadable ones. They are shared: do
// not change them.
func (s *Source) Jobs(ctx context.Context) ([]request.Job, []error, error) {
	q, err := s.queue.within(ctx, s.ages)
	return q.jobs, q.unreadable, err
}

func (s *Source) list(ctx context.Context) (objects []string, err error) {
	for kind, of := range map[Kind]store.Kind{SpotPools: store.SpotPools, Budgets: store.Budgets, StockPools: store.StockPools} {
		documents, err := s.world.Store.List(ctx, of)
		if err != nil {
			return nil, err
		}
		for _, d := range documents {
			objects = append(objects, string(kind)+"/"+d.Key.Name)
		}
	}
	return objects, nil
}

// Explain returns everything that the decisions about an object depend on. Readers take turns.
func (s *Source) Explain(ctx context.Context, reader, object string) (reconcile.Explanation, error) {
	return s.explained.get(ctx, reader, object, func(ctx context.Context) (reconcile.Explanation, error) {
		x, err := s.world.Runner().Explain(ctx, object)
		return x.NoNulls(), err
	})
}

// Usage answers a question about usage. The key identifies it. Readers take turns.
func (s *Source) Usage(ctx context.Context, reader, key string, q budgets.Question) (budgets.LiveUsage, error) {
	return s.usage.get(ctx, reader, key, func(ctx context.Context) (budgets.LiveUsage, error) { return s.world.Budgets().Ask(ctx, q) })
}

// Recorded returns the usage of a budget as of the last run. The state identifies what it depends on.
// Readers take turns.
func (s *Source) Recorded(ctx context.Context, reader, name, state string) (budgets.RecordedUsage, error) {
	return s.recorded.get(ctx, reader, name+"\x00"+state, func(ctx context.Context) (budgets.RecordedUsage, error) {
		return s.world.Budgets().Recorded(ctx, name)
	})
}

// History returns events.
func (s *Source) History(ctx context.Context, q history.Query, tell func(*history.Event) error) (eventlog.Answer, error) {
	kept := &eventlog.Log{Store: s.world.Store, Now: s.Now}
	return kept.Walk(ctx, q, tell)
}

// Store returns the location of the store.
func (s *Source) Store() string { return s.world.Store.String() }

// Now returns the time by the local clock.
func (s *Source) Now() time.Time { return s.world.Now() }

// Ready reports why the store cannot be read now.
func (s *Source) Ready(ctx context.Context) error {
	_, err := s.world.Store.Read(ctx, store.Key{Kind: store.Statuses, Name: "last_run"})
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	return err
}
