// Package jobs keeps requests as jobs in the store, and does them in runs.
//
// The store is the queue: a request is a document, which the next run claims, does and completes.
// Each write is a compare-and-swap, so that any number of processes can submit, cancel and run. What
// a job does has an ID that is recorded first. A run after a kill recognizes by it what was done.
package jobs

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// MaxQueued is how many jobs may be queued, and MaxKept how many of one requester are kept, finished
// ones included.
const (
	MaxQueued = 1000
	MaxKept   = 1000
)

// Queue submits, lists and cancels the jobs of a store.
type Queue struct {
	Repository record.Repository
	// Limits returns the limits of requested stock pools in a namespace. Nil sets none.
	Limits func(namespace string) request.Limits
}

type stored = record.Document[declaration.Job]

// Submit queues a request, and returns its job. Without an idempotency key, each request is a new
// job. A repeated key of the requester returns the same job, or request.ErrKeyReused for another
// request. A refused request returns one of the error types of package request, or
// *record.AbsentError for an unknown budget or pool.
func (q Queue) Submit(ctx context.Context, r request.Request, requester, key string) (request.Job, error) {
	if err := request.ValidateKey(key); err != nil {
		return request.Job{}, err
	}
	id := record.NewID()
	if key != "" {
		id = request.ID(requester, key)
		if job, found, err := q.repeated(ctx, id, r); found || err != nil {
			return job, err
		}
	}
	now := q.Repository.Now()
	job := declaration.Job{Job: request.New(id, r, requester, now), Hash: r.Hash()}
	if err := job.Request.Validate(requester, now); err != nil {
		return request.Job{}, err
	}
	if err := q.resolve(ctx, &job); err != nil {
		return request.Job{}, err
	}
	if err := q.checkRoom(ctx, requester); err != nil {
		return request.Job{}, err
	}
	_, err := q.save(ctx, stored{}, job)
	if errors.Is(err, store.ErrConflict) {
		if job, found, err := q.repeated(ctx, id, r); found || err != nil {
			return job, err
		}
	}
	if err != nil {
		return request.Job{}, err
	}
	return job.Public(), nil
}

// repeated returns the job of an ID, if there is one. The error is request.ErrKeyReused if it is of
// another request.
func (q Queue) repeated(ctx context.Context, id string, r request.Request) (request.Job, bool, error) {
	job, err := q.load(ctx, id)
	if err != nil || !job.Exists() {
		return request.Job{}, false, err
	}
	if job.Value.Hash != r.Hash() {
		return request.Job{}, true, request.ErrKeyReused
	}
	if r.Type() == request.TypeDelete { // of a stock pool that was requested again since, it is another request
		of, err := record.StockPools(q.Repository).Load(ctx, r.Delete.StockPool)
		if err == nil && of.Exists() && of.Value.Declaration.UID != job.Value.EffectID {
			err = request.ErrKeyReused
		}
		if err != nil {
			return request.Job{}, true, err
		}
	}
	return job.Value.Public(), true, nil
}

// resolve finds the object of a request, and returns why it cannot be done.
func (q Queue) resolve(ctx context.Context, job *declaration.Job) error {
	switch r := job.Request; r.Type() {
	case request.TypeGrant:
		of, err := record.Budgets(q.Repository).Find(ctx, r.Grant.Budget)
		if err == nil && of.Value.Phase == declaration.Deleting {
			err = exception.Refuse("budget/%s is being deleted", r.Grant.Budget)
		}
		return err
	case request.TypeHold:
		key, err := record.SpotPools(q.Repository).KeyOf(ctx, r.Hold.Pool)
		if err != nil {
			return err
		}
		hold := *r.Hold
		hold.Pool = key
		job.Request.Hold = &hold
		job.Object = job.Request.Object()
	case request.TypeStockPool:
		if q.Limits != nil {
			job.Limits = q.Limits(r.StockPool.Namespace)
		}
		return q.checkStockPool(ctx, *job)
	case request.TypeDelete:
		of, err := record.StockPools(q.Repository).Find(ctx, r.Delete.StockPool)
		if err != nil {
			return err
		}
		if d := of.Value.Declaration; !d.Requested() {
			return record.Taken(d)
		}
		job.EffectID = of.Value.Declaration.UID
	}
	return nil
}

// checkStockPool returns why a requested stock pool is refused: its name is taken, its budget is
// unknown, or its namespace has no room for it.
func (q Queue) checkStockPool(ctx context.Context, job declaration.Job) error {
	d := declarationOf(job)
	r, err := record.StockPools(q.Repository).Load(ctx, d.Key())
	if err == nil && r.Exists() {
		err = record.Taken(r.Value.Declaration)
	}
	if err != nil {
		return err
	}
	if d.Budget != "" {
		if _, err := q.Repository.NamedBudget(ctx, d.Budget); err != nil {
			return err
		}
	}
	return q.checkLimits(ctx, job)
}

// checkLimits returns a *request.LimitError if a job exceeds the limits of its namespace.
func (q Queue) checkLimits(ctx context.Context, job declaration.Job) error {
	if job.Limits == (request.Limits{}) {
		return nil
	}
	d := declarationOf(job)
	all, err := record.StockPools(q.Repository).List(ctx)
	if err != nil {
		return err
	}
	var existing request.Size
	for _, of := range all {
		switch there := of.Record.Declaration; {
		case !strings.HasPrefix(of.Key, d.Namespace+"/"):
		case of.Err != nil:
			return fmt.Errorf("the stock pools of the namespace %s cannot be counted: %w", d.Namespace, of.Err)
		case there.Requested() && there.UID != job.EffectID:
			existing = existing.Plus(request.SizeOf(there))
		}
	}
	return job.Limits.Check(d.Namespace, existing, request.SizeOf(d))
}

func (q Queue) checkRoom(ctx context.Context, requester string) error {
	all, _, err := q.list(ctx)
	if err != nil {
		return err
	}
	queued, kept := 0, 0
	for _, job := range all {
		if job.Value.State == request.Queued {
			queued++
		}
		if job.Value.RequestedBy == requester {
			kept++
		}
	}
	if kept >= MaxKept {
		return &request.FullError{Kept: kept}
	}
	if queued >= MaxQueued {
		return &request.FullError{Queued: queued}
	}
	return nil
}

// Job returns the job of an ID, without the values of environment variables. The error is a
// *request.NotFoundError if there is none.
func (q Queue) Job(ctx context.Context, id string) (request.Job, error) {
	job, err := q.find(ctx, id)
	return job.Value.Public(), err
}

// Jobs returns all jobs, the latest first, without the values of environment variables. Unreadable
// ones are errors of their own.
func (q Queue) Jobs(ctx context.Context) (jobs []request.Job, unreadable []error, err error) {
	all, unreadable, err := q.list(ctx)
	jobs = make([]request.Job, len(all))
	for n, job := range all {
		jobs[len(all)-1-n] = job.Value.Public()
	}
	return jobs, unreadable, err
}

// Cancel cancels a queued job. The error is a *request.StateError if it is no longer queued.
func (q Queue) Cancel(ctx context.Context, id string) (request.Job, error) {
	for {
		job, err := q.find(ctx, id)
		if err != nil {
			return request.Job{}, err
		}
		next := job.Value
		if next.Job, err = next.To(request.Canceled, q.Repository.Now()); err != nil {
			return job.Value.Public(), err
		}
		_, err = q.save(ctx, job, next)
		if !errors.Is(err, store.ErrConflict) || ctx.Err() != nil {
			return next.Public(), err
		}
	}
}

func (q Queue) find(ctx context.Context, id string) (stored, error) {
	absent := &request.NotFoundError{ID: id, Store: q.Repository.Store.String()}
	if store.ValidateName(id) != nil || strings.Contains(id, "/") {
		return stored{}, absent
	}
	job, err := q.load(ctx, id)
	if err == nil && !job.Exists() {
		err = absent
	}
	return job, err
}

func (q Queue) load(ctx context.Context, id string) (stored, error) {
	job, err := record.Load[declaration.Job](ctx, q.Repository.Store, store.Jobs, id)
	if err == nil && job.Exists() {
		err = q.own(id, job.Value)
	}
	return job, err
}

// own returns an error if a document has the job of another ID.
func (q Queue) own(id string, job declaration.Job) error {
	if job.ID == id {
		return nil
	}
	what := record.DocumentName(q.Repository.Store, store.Key{Kind: store.Jobs, Name: id})
	return &declaration.DamagedError{What: what, Kind: "job", Reason: fmt.Sprintf("it has the job %.40q", job.ID)}
}

// list returns all jobs, the oldest first.
func (q Queue) list(ctx context.Context) (all []stored, unreadable []error, err error) {
	docs, err := q.Repository.Store.List(ctx, store.Jobs)
	if err != nil {
		return nil, nil, err
	}
	for _, doc := range docs {
		value, err := record.DecodeListed[declaration.Job](ctx, q.Repository.Store, doc)
		switch err := cmp.Or(err, q.own(doc.Key.Name, value)); {
		case errors.Is(err, store.ErrNotFound): // deleted since
		case err != nil:
			unreadable = append(unreadable, err)
		default:
			all = append(all, stored{Value: value, Revision: doc.Revision})
		}
	}
	slices.SortFunc(all, func(a, b stored) int {
		return cmp.Or(a.Value.RequestedAt.Compare(b.Value.RequestedAt), cmp.Compare(a.Value.ID, b.Value.ID))
	})
	return all, unreadable, nil
}

func (q Queue) save(ctx context.Context, old stored, job declaration.Job) (stored, error) {
	return record.Save(ctx, q.Repository.Store, store.Jobs, job.ID, old, job)
}
