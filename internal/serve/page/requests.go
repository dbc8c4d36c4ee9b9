package page

import (
	"context"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
)

// requests are the jobs of people, those that failed first.
type requests struct {
	Jobs     []job
	Failed   int
	More     int // that are not listed
	Warnings []string
	Tenant   bool
}

// job is one request.
type job struct {
	request.Job
	why
	Link string
}

// Rank is how bad its state is.
func (j job) Rank() state.Rank {
	switch j.State {
	case request.Failed:
		return state.Bad
	case request.Expired:
		return state.Lacking
	case request.Queued, request.Running:
		return state.Moving
	case request.Canceled:
		return state.Noticed
	}
	return state.Calm
}

// Class is the class of its state.
func (j job) Class() string { return j.Rank().String() }

// failed reports whether a request was not done, and must be repeated.
func (j job) failed() bool { return j.Rank() <= state.Lacking }

// jobsAtMost is the most requests on one page.
const jobsAtMost = 50

// requests returns the requests that fit. Those that failed are first, and then the latest.
func (v view) requests(ctx context.Context, fits func(job) bool) (r requests, err error) {
	list, err := v.Reader.Jobs(ctx)
	if err != nil {
		return r, err
	}
	if r.Tenant = v.tenant; !v.tenant {
		r.Warnings = list.Warnings.Texts()
	}
	for _, one := range list.Jobs {
		j := job{Job: one, why: v.why(one.Reasons, one.Error), Link: linkOf(one.Object)}
		if fits(j) {
			r.Jobs = append(r.Jobs, j)
			if j.failed() {
				r.Failed++
			}
		}
	}
	slices.SortStableFunc(r.Jobs, func(a, b job) int { return int(min(a.Rank(), state.Noticed) - min(b.Rank(), state.Noticed)) })
	r.More = max(0, len(r.Jobs)-jobsAtMost)
	r.Jobs = r.Jobs[:len(r.Jobs)-r.More]
	return r, nil
}

// open reports whether a request waits for a run or failed: what an overview shows.
func open(j job) bool { return j.State != request.Succeeded && j.State != request.Canceled }
