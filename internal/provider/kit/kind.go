// Package kit is what the resources and the data sources have in common: the frames of their
// operations, common attributes, and builders of schemas. A frame calls the functions of a
// Kind, which differ by resource.
package kit

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Kind is what differs from one resource to another. M has the resource's values, D is its
// declaration, S is its observed state, and F are the operations of its flow.
type Kind[M Model, D record.Declaration[D], S, F any] struct {
	Type    string        // in Terraform
	Title   string        // in errors
	Timeout time.Duration // of an operation, by default
	// Slack is how much longer than its timeout an operation's context lasts.
	Slack time.Duration

	// Declaration reads values, and reports those that it can't read.
	Declaration func(M, *diag.Diagnostics) D
	// Identity is the value of the identity schema.
	Identity func(M) any
	// Problems are everything wrong with a configuration. The frame drops those of unknown
	// values; Problems itself drops those of known values that depend on unknown ones.
	Problems func(M, *diag.Diagnostics) []problem.Problem
	// Doubts are warnings about a configuration that is fully known and valid; nil if only
	// plans warn.
	Doubts func(D) []problem.Problem
	// WriteOnly are the planned values with those of the configuration that are in no plan.
	WriteOnly func(planned, config M) M
	// Import finds what an import names.
	Import func(context.Context, resource.ImportStateRequest, *diag.Diagnostics) M

	PlanCreate, PlanUpdate, PlanDestroy func(context.Context, resource.ModifyPlanRequest, *resource.ModifyPlanResponse)
	// UpdatesDeleting reports whether an update changes an object whose deletion was begun.
	// Without it, the deletion could not be finished. Nil if no update does.
	UpdatesDeleting func(planned, prior M) bool

	// Flow returns the flow of an apply.
	Flow func(context.Context) (F, error)
	// Create and Update carry out what is declared; Create may complete the declaration.
	Create func(ctx context.Context, f F, m M, d *D, wait time.Duration) (S, error)
	Update func(ctx context.Context, f F, m M, d, was D, wait time.Duration) (S, error)
	// KeepsFailed saves the state of an update that failed after it was recorded.
	KeepsFailed bool
	// Delete returns warnings of what it left.
	Delete func(ctx context.Context, f F, d D, wait time.Duration) (diag.Diagnostics, error)

	View  func(context.Context, D) (S, error)
	Found func(S) Found
	// Refresh writes what was observed to the state where it differs, and returns the
	// values that the state then has.
	Refresh func(ctx context.Context, m M, d D, s S, resp *resource.ReadResponse) (M, error)
	// Filled is the state after an operation: the planned values, and the unknown ones
	// filled in. prior is zero after a creation.
	Filled func(planned, prior M, s S) M
	// Keep writes to the private state what later plans need.
	Keep func(context.Context, M, S, connection.PrivateWriter) diag.Diagnostics
	// Warn warns of what was observed.
	Warn func(diags *diag.Diagnostics, m M, at Moment, s S)
}

// Found is what a store has about an object: its record, its tombstone, or neither. Deleting
// reports that the record is of a begun deletion.
type Found struct{ Recorded, Destroyed, Deleting bool }
