package budgets

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// FileResult is the result of DeclareFile for one budget.
type FileResult struct {
	Object   string
	Change   Change
	Messages reason.Reasons // of a deletion
}

// Change is a change of a declaration.
type Change string

// The changes. Kept means that Terraform manages the budget.
const (
	Created   Change = "created"
	Updated   Change = "updated"
	Unchanged Change = "unchanged"
	Deleted   Change = "deleted"
	Kept      Change = "kept"
)

// DeclareFile declares all budgets of a file, and deletes those of an earlier file that are no
// longer in it. Budgets that Terraform manages stay as they are, also if they were imported. If a
// declaration is invalid, nothing is changed. Other errors are of single budgets.
func (f *Flow) DeclareFile(ctx context.Context, list []budget.Declaration) ([]FileResult, error) {
	list = slices.Clone(list)
	var errs []error
	for n := range list {
		list[n] = list[n].WithDefaults()
		errs = append(errs, valid(list[n]))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	known, err := f.records().List(ctx)
	if err != nil {
		return nil, err
	}
	recorded := map[string]record.Listed[budget.Declaration]{}
	for _, r := range known {
		recorded[r.Key] = r
	}
	var done []FileResult
	add := func(one FileResult, err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", one.Object, err))
			return
		}
		done = append(done, one)
	}
	for _, d := range list {
		add(f.declareOne(ctx, recorded[d.Name], d))
		delete(recorded, d.Name)
	}
	for _, r := range known {
		if of, left := recorded[r.Key]; left && of.Err == nil && of.Record.Declaration.FromFile() {
			add(f.deleteOne(ctx, of.Record.Declaration))
		}
	}
	return done, errors.Join(errs...)
}

// declareOne declares a budget of a file. A deletion that is in progress is finished first.
func (f *Flow) declareOne(ctx context.Context, r record.Listed[budget.Declaration], d budget.Declaration) (FileResult, error) {
	one := FileResult{Object: d.Object()}
	d.ManagedBy = budget.ManagedByFile
	old := r.Record.Declaration
	switch {
	case r.Err != nil:
		return one, r.Err
	case r.Key == "":
		one.Change = Created
		_, err := f.Create(ctx, d)
		return one, err
	case !old.FromFile():
		one.Change = Kept
		return one, nil
	case r.Record.Phase == declaration.Deleting:
		one, err := f.deleteOne(ctx, old)
		if err == nil {
			one.Change = Created
			_, err = f.Create(ctx, d)
		}
		return one, err
	}
	d.ClusterUID = old.ClusterUID
	state, err := f.Update(ctx, d.WithIdentity(old.UID, old.Generation))
	one.Change = Unchanged
	if state.Declaration.Generation != old.Generation {
		one.Change = Updated
	}
	return one, err
}

func (f *Flow) deleteOne(ctx context.Context, d budget.Declaration) (FileResult, error) {
	messages, err := f.Delete(ctx, d)
	return FileResult{Object: d.Object(), Change: Deleted, Messages: messages}, err
}
