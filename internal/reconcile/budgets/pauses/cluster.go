// Package pauses stops and starts the workloads of budgets, and keeps in the store which
// budget has paused what, so that a kill at any step leaves no workload stopped for good.
package pauses

import (
	"context"
	"errors"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// Cluster is what pausing needs of a Kubernetes cluster.
type Cluster interface {
	// Workload reads a workload. The error is *budget.NotPausedError where it is gone, or
	// can't be paused.
	Workload(ctx context.Context, w budget.Workload) (budget.WorkloadState, error)
	// Autoscaler says which autoscaler scales a workload, or nothing.
	Autoscaler(ctx context.Context, w budget.Workload) (string, error)
	// Pause suspends a Job, or scales a Deployment or StatefulSet to zero, if it is
	// still as it was seen; else budget.ErrWorkloadChanged.
	Pause(ctx context.Context, seen budget.WorkloadState) error
	// Resume undoes a pause, if the workload is still as it was seen.
	Resume(ctx context.Context, seen budget.WorkloadState, replicas int32) error
}

// Forbidden reports that the role lacks a right: all that went wrong is that.
func Forbidden(err error) bool {
	var many interface{ Unwrap() []error }
	if errors.As(err, &many) {
		return !slices.ContainsFunc(many.Unwrap(), func(err error) bool { return !Forbidden(err) })
	}
	var refused interface{ Forbidden() bool }
	return errors.As(err, &refused) && refused.Forbidden()
}
