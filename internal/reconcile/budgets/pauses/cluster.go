// Package pauses pauses and resumes the workloads of budgets. The store records each pause, so that
// a kill at any step leaves no workload stopped forever.
package pauses

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Cluster is the access of pauses to a Kubernetes cluster.
type Cluster interface {
	// Workload reads a workload. The error is *budget.NotPausedError if it does not exist or
	// cannot be paused.
	Workload(ctx context.Context, w budget.Workload) (budget.WorkloadState, error)
	// Autoscaler returns the autoscaler that scales a workload; zero if there is none.
	Autoscaler(ctx context.Context, w budget.Workload) (budget.Autoscaler, error)
	// Pause suspends a Job or a CronJob, or scales a Deployment or StatefulSet to zero. The error is
	// budget.ErrWorkloadChanged if the workload changed since the observation.
	Pause(ctx context.Context, seen budget.WorkloadState) error
	// Resume reverts a pause, with the same error.
	Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error
}

// Forbidden reports whether the only failure is that the role lacks a right.
func Forbidden(err error) bool {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		return !slices.ContainsFunc(many.Unwrap(), func(err error) bool { return !Forbidden(err) })
	}
	var refused interface{ Forbidden() bool }
	return errors.As(err, &refused) && refused.Forbidden()
}
