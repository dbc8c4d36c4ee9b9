package api

import (
	"cmp"
	"context"
	"errors"
	"net/http"

	"github.com/danielgtaylor/huma/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/jobs"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// Jobs keeps requests as jobs, which the next run does.
type Jobs interface {
	Submit(ctx context.Context, r request.Request, requester, key string) (request.Job, error)
	Job(ctx context.Context, id string) (request.Job, error)
	Jobs(ctx context.Context) (jobs []request.Job, unreadable []error, err error)
	Cancel(ctx context.Context, id string) (request.Job, error)
}

// StockPoolBody requests a stock pool.
type StockPoolBody struct {
	_ struct{} `additionalProperties:"false"`
	request.StockPool
}

// GrantBody requests additional GPU-hours for a budget.
type GrantBody struct {
	_ struct{} `additionalProperties:"false"`
	// The additional GPU-hours, such as `50`.
	GPUHours string `json:"gpu_hours"`
	request.Span
	// The reason, for status and the history.
	Reason string `json:"reason"`
}

// HoldBody requests a pause of the reconciliation of a spot pool.
type HoldBody struct {
	_ struct{} `additionalProperties:"false"`
	request.Span
	// The reason, for status and the history.
	Reason string `json:"reason"`
}

// RunBody requests a run now.
type RunBody struct {
	_ struct{} `additionalProperties:"false"`
}

// Keyed is an idempotency key.
type Keyed struct {
	Key string `header:"Idempotency-Key" doc:"A random ID of the request. The same key and body is the same job." maxLength:"255"`
}

type accepted struct {
	Location string `header:"Location" doc:"The path of the job."`
	Body     request.Job
}

type jobID struct {
	ID string `path:"id" doc:"The ID of the job." maxLength:"253"`
}

func (a *api) addRequests() {
	get(a, "/jobs", "listJobs", "Jobs, the latest first", a.jobList)
	get(a, "/jobs/{id}", "getJob", "One job", func(ctx context.Context, in *jobID) (request.Job, error) { return a.job(ctx, in.ID) })
	post(a, "/stockpools", "requestStockPool", "Request a stock pool", func(ctx context.Context, in *struct {
		Keyed
		Body StockPoolBody
	}) (*accepted, error) {
		return a.submit(ctx, request.Request{StockPool: &in.Body.StockPool}, in.Key)
	})
	post(a, "/budgets/{name}/grants", "requestGrant", "Request additional GPU-hours for a budget", func(ctx context.Context, in *struct {
		Keyed
		Named
		Body GrantBody
	}) (*accepted, error) {
		grant := &request.Grant{Budget: in.Name, GPUHours: in.Body.GPUHours, Span: in.Body.Span, Reason: in.Body.Reason}
		return a.submit(ctx, request.Request{Grant: grant}, in.Key)
	})
	post(a, "/spotpools/{region}/{name}/holds", "requestHold", "Request a pause of the reconciliation of a spot pool", func(ctx context.Context, in *struct {
		Keyed
		InRegion
		Body HoldBody
	}) (*accepted, error) {
		return a.submit(ctx, request.Request{Hold: &request.Hold{Pool: in.Region + "/" + in.Name, Span: in.Body.Span, Reason: in.Body.Reason}}, in.Key)
	})
	post(a, "/runs", "requestRun", "Request a reconcile run now", func(ctx context.Context, in *struct {
		Keyed
		Body RunBody `required:"false"`
	}) (*accepted, error) {
		return a.submit(ctx, request.Request{Run: &request.Run{}}, in.Key)
	})
	change(a, http.MethodDelete, "/stockpools/{namespace}/{name}", "requestDeletion", "Request the deletion of a requested stock pool",
		func(ctx context.Context, in *struct {
			Keyed
			InNamespace
		}) (*accepted, error) {
			return a.submit(ctx, request.Request{Delete: &request.Delete{StockPool: in.Namespace + "/" + in.Name}}, in.Key)
		})
	huma.Register(a.API, operation(http.MethodDelete, "/jobs/{id}", "cancelJob", "Cancel a queued job"), func(ctx context.Context,
		in *jobID) (*answer[request.Job], error) {
		job, err := a.cancel(ctx, in.ID)
		if err != nil {
			return nil, problemOf(ctx, err)
		}
		return &answer[request.Job]{job}, nil
	})
}

// BodyAtMost is the largest body of a request.
const BodyAtMost = 64 << 10

func operation(method, path, id, summary string) huma.Operation {
	return huma.Operation{
		Method: method, Path: Path + path, OperationID: id, Summary: summary, MaxBodyBytes: BodyAtMost, Errors: []int{
			http.StatusUnauthorized, http.StatusForbidden, http.StatusNotFound, http.StatusConflict, http.StatusUnsupportedMediaType,
			http.StatusUnprocessableEntity, http.StatusTooManyRequests, http.StatusServiceUnavailable,
		},
	}
}

// post adds an operation that requests something.
func post[I, O any](a *api, path, id, summary string, do func(ctx context.Context, in *I) (*O, error)) {
	change(a, http.MethodPost, path, id, summary, do)
}

// change adds an operation whose response is a job.
func change[I, O any](a *api, method, path, id, summary string, do func(ctx context.Context, in *I) (*O, error)) {
	o := operation(method, path, id, summary)
	o.DefaultStatus = http.StatusAccepted
	huma.Register(a.API, o, func(ctx context.Context, in *I) (*O, error) {
		job, err := do(ctx, in)
		if err != nil {
			return nil, problemOf(ctx, err)
		}
		return job, nil
	})
}

// submit queues a request that the user may make.
func (a *api) submit(ctx context.Context, r request.Request, key string) (*accepted, error) {
	user := access.UserOf(ctx)
	resource, namespace := needs(r)
	may, err := user.Allows(ctx, access.Create, resource, namespace)
	if err != nil || !may {
		return nil, cmp.Or(err, errMayNotChange)
	}
	if r.StockPool != nil && r.StockPool.Budget != "" { // whether others' budgets exist is not theirs to know
		if _, err := a.viewOf(ctx, "budget/"+r.StockPool.Budget); err != nil {
			return nil, err
		}
	}
	job, err := a.Jobs.Submit(ctx, r, user.Name, key)
	if jobs.RefusalOf(err) == jobs.Absent { // the error of the store lists what there is
		err = notFound(r.Object())
	}
	if err != nil {
		return nil, err
	}
	if a.Submitted != nil {
		a.Submitted()
	}
	return &accepted{Location: Path + "/jobs/" + job.ID, Body: job}, nil
}

// needs returns the resource that a user needs the right to create. Only those of stock pools are of a
// namespace: a tenant may not raise their own limit. Who may request a stock pool may also request its
// deletion.
func needs(r request.Request) (resource, namespace string) {
	switch r.Type() {
	case request.TypeStockPool, request.TypeDelete:
		return access.StockPools, r.Namespace()
	case request.TypeGrant:
		return access.Grants, ""
	case request.TypeHold:
		return access.Holds, ""
	}
	return access.Runs, ""
}

// seesJob reports whether the user may read or cancel a job. Required are rights in all namespaces
// or in the namespace of its stock pool. Of other requests, the requester may, too.
func seesJob(ctx context.Context, verb string, job request.Job) (bool, error) {
	user := access.UserOf(ctx)
	if namespace := job.Request.Namespace(); namespace != "" {
		return user.Allows(ctx, verb, access.Jobs, namespace)
	}
	if all, err := user.Allows(ctx, verb, access.Jobs, ""); err != nil || all {
		return all, err
	}
	return job.RequestedBy == user.Name, nil
}

func (a *api) jobList(ctx context.Context, _ *nothing) (request.JobList, error) {
	all, unreadable, err := a.Jobs.Jobs(ctx)
	if err != nil {
		return request.JobList{}, err
	}
	return a.visibleJobs(ctx, all, unreadable)
}

// visibleJobs are those that the user may read.
func (a *api) visibleJobs(ctx context.Context, all []request.Job, unreadable []error) (request.JobList, error) {
	seen, err := filter(all, func(job request.Job) (bool, error) { return seesJob(ctx, access.Get, job) })
	if err != nil {
		return request.JobList{}, err
	}
	v, err := a.view(ctx)
	if err != nil || v.all {
		return request.NewJobList(seen, unreadable...), err
	}
	for n, job := range seen {
		seen[n] = job.For(v.reader(ctx), v.user.Name)
	}
	return request.NewJobList(seen), v.err
}

func (a *api) job(ctx context.Context, id string) (request.Job, error) {
	job, err := a.Jobs.Job(ctx, id)
	var absent *request.NotFoundError
	switch {
	case errors.As(err, &absent): // the same as of one that the user may not read
		return job, notFound("job/" + id)
	case err != nil:
		return job, err
	}
	if sees, err := seesJob(ctx, access.Get, job); err != nil || !sees {
		return request.Job{}, orNotFound(err, id)
	}
	v, err := a.view(ctx)
	if err != nil {
		return request.Job{}, err
	}
	return job.For(v.reader(ctx), v.user.Name), v.err
}

func (a *api) cancel(ctx context.Context, id string) (request.Job, error) {
	job, err := a.job(ctx, id)
	if err != nil {
		return job, err
	}
	if may, err := seesJob(ctx, access.Delete, job); err != nil || !may {
		return request.Job{}, cmp.Or(err, errMayNotChange)
	}
	return a.Jobs.Cancel(ctx, id)
}

func orNotFound(err error, id string) error {
	if err == nil {
		return notFound("job/" + id)
	}
	return err
}
