package budgets

import (
	"context"
)

// Assume writes another limit into a budget's record, as an apply would, and returns the previous one.
// A dry run uses it on its draft.
func (f *Flow) Assume(ctx context.Context, name, gpuHours string) (was string, err error) {
	r, err := f.records().Find(ctx, name)
	if err != nil {
		return "", err
	}
	d := r.Value.Declaration
	was, d.GPUHours = d.GPUHours, gpuHours
	if err := valid(d.WithDefaults()); err != nil {
		return was, err
	}
	next, differs, err := changed(f.records(), r, d, f.now().UTC())
	if err == nil && differs {
		_, err = f.records().Save(ctx, r, r.Value.Phase, next)
	}
	return was, err
}
