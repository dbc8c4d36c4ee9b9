package budgets

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Granted is the result of a change of a budget's grants.
type Granted struct {
	Declaration budget.Declaration
	// Grants are those that began or ended.
	Grants []budget.Grant
	// Limit is the limit from now on, in milli-GPU-seconds.
	Limit int64
}

// Grant temporarily adds hours to a budget, from the next run on.
func (f *Flow) Grant(ctx context.Context, name, hours string, ask exception.Request) (Granted, error) {
	r, err := f.records().Find(ctx, name)
	d := r.Value.Declaration
	if err == nil && r.Value.Phase == declaration.Deleting {
		err = exception.Refuse("nothing is granted: %s", f.records().Unfinished(d))
	}
	if err != nil {
		return Granted{}, err
	}
	now := f.now()
	if there, err := f.grantOf(ctx, d, ask.ID, now); err != nil || len(there.Grants) > 0 {
		return there, err
	}
	begun, err := ask.Begin(cmp.Or(ask.ID, record.NewID()), now)
	if err != nil {
		return Granted{}, exception.Refuse("nothing is granted to budget/%s: %w", name, err)
	}
	grant := budget.Grant{Exception: begun, GPUHours: hours}
	after, err := record.Grants(f.Repository).Change(ctx, d.UID, func(g declaration.Grants) (declaration.Grants, error) {
		added, err := g.Add(d, grant, now)
		if err != nil {
			return g, exception.Refuse("nothing is granted to budget/%s: %w", name, err)
		}
		return declaration.Grants{BudgetUID: d.UID, Budget: d.Name, Grants: added}, nil
	})
	if err != nil {
		return Granted{}, err
	}
	return f.granted(ctx, d, after, []budget.Grant{grant}, now)
}

// grantOf returns the grant of an ID, if an earlier run made it.
func (f *Flow) grantOf(ctx context.Context, d budget.Declaration, id string, now time.Time) (Granted, error) {
	if id == "" {
		return Granted{}, nil
	}
	all, err := record.Grants(f.Repository).Of(ctx, d.UID)
	n := slices.IndexFunc(all.List, func(g budget.Grant) bool { return g.ID == id })
	if err != nil || n < 0 {
		return Granted{}, err
	}
	return f.granted(ctx, d, all, all.List[n:n+1], now)
}

// Release ends all grants of a budget that are in force, if any.
func (f *Flow) Release(ctx context.Context, name string, r exception.Release) (Granted, error) {
	d, err := f.Find(ctx, name)
	if err != nil {
		return Granted{}, err
	}
	if err := r.Validate(); err != nil {
		return Granted{}, fmt.Errorf("no grant of budget/%s is released: %w", name, err)
	}
	now := f.now()
	r.At = now
	held, err := record.Grants(f.Repository).Of(ctx, d.UID)
	if err != nil || len(held.InForce(now)) == 0 {
		return Granted{Declaration: d}, err
	}
	var released []budget.Grant
	after, err := record.Grants(f.Repository).Change(ctx, d.UID, func(g declaration.Grants) (declaration.Grants, error) {
		g.Grants, released = g.Grants.Release(d, r)
		g.BudgetUID, g.Budget = d.UID, d.Name
		return g, nil
	})
	if err != nil {
		return Granted{}, err
	}
	return f.granted(ctx, d, after, released, now)
}

// granted reports a change of grants to the history.
func (f *Flow) granted(ctx context.Context, d budget.Declaration, after declaration.Grants, which []budget.Grant, now time.Time) (Granted, error) {
	f.note(after.Events(d, now)...)
	f.report(ctx)
	limit, err := d.Granted(after.Grants, now).Limit()
	return Granted{Declaration: d, Grants: which, Limit: limit}, err
}

// grants are the grants of all budgets, as one run or command reads them.
type grants map[string]record.Excepted[declaration.Grants]

func readGrants(ctx context.Context, k record.Repository) (grants, error) {
	if k.Store == nil {
		return grants{}, nil
	}
	return record.Grants(k).All(ctx)
}

func (g grants) of(d budget.Declaration) budget.Grants { return g[d.UID].Value.Grants }

// limit returns the present limit of a budget; nil if it is unknown.
func (g grants) limit(d budget.Declaration, now time.Time) *string {
	limit, err := d.Granted(g.of(d), now).Limit()
	if err != nil || g == nil || g[d.UID].Err != nil {
		return nil
	}
	return new(budget.Hours(limit))
}

// limited returns the declarations with their present limits.
func (g grants) limited(list []budget.Declaration, now time.Time) []budget.Declaration {
	limited := make([]budget.Declaration, len(list))
	for n, d := range list {
		limited[n] = d.Granted(g.of(d), now)
	}
	return limited
}

// reportGrants reports to the history which grants of these budgets began and ended, and then removes
// these events from their documents. A failure is only a warning.
func (k *kind) reportGrants(ctx context.Context, list []budget.Declaration, granted grants, now time.Time) {
	var unreported []record.Rest[declaration.Grants]
	for _, d := range list {
		if events := granted.of(d).Events(d, now); len(events) > 0 {
			k.flow.note(events...)
			unreported = append(unreported, record.Rest[declaration.Grants]{UID: d.UID, WithoutReported: func(g declaration.Grants) declaration.Grants {
				g.Grants = g.Grants.WithoutReported(d, now, k.flow.outbox.Has)
				return g
			}})
		}
	}
	record.Grants(k.flow.Repository).ReportRest(ctx, k.flow.Repository, &k.flow.outbox, k.flow.Clock, unreported, k.warnings.Warn)
}
