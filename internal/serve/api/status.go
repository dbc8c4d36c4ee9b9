package api

import (
	"context"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
)

// Health is the health of the process.
type Health struct {
	// `ok`.
	Status string `json:"status"`
	// The version of gpupool.
	Version string `json:"version"`
}

func (a *api) addHealth() {
	get(a, "/health", "health", "Health of the process", func(context.Context, *nothing) (Health, error) {
		return Health{Status: "ok", Version: a.Version}, nil
	})
}

// List is the part of a list that is not its objects.
type List struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// When the objects were observed.
	At time.Time `json:"at"`
	// The location of the store. Empty for a reader of a part of it.
	Store string `json:"store"`
	// Warnings that concern all objects.
	Warnings reason.Reasons `json:"warnings"`
}

// SpotPools are the spot pools, as observed now.
type SpotPools struct {
	List
	// The spot pools.
	SpotPools []spotpools.Description `json:"spot_pools"`
}

// Budgets are the budgets, as the last run measured them.
type Budgets struct {
	List
	// The budgets.
	Budgets []budgets.Description `json:"budgets"`
}

// StockPools are the stock pools, as observed now.
type StockPools struct {
	List
	// The stock pools.
	StockPools []stockpools.Description `json:"stock_pools"`
}

// InRegion is a spot pool.
type InRegion struct {
	Region string `path:"region" doc:"The region."`
	Name   string `path:"name" doc:"The name."`
}

// InNamespace is a stock pool.
type InNamespace struct {
	Namespace string `path:"namespace" doc:"The namespace."`
	Name      string `path:"name" doc:"The name."`
}

// Named is a budget.
type Named struct {
	Name string `path:"name" doc:"The name."`
}

func (a *api) addStatus() {
	get(a, "/status", "getStatus", "State of all objects, as gpupool status -o json prints it", a.status)
	get(a, "/spotpools", "listSpotPools", "Spot pools, as observed now", a.spotPools)
	get(a, "/spotpools/{region}/{name}", "getSpotPool", "One spot pool, as observed now",
		func(ctx context.Context, in *InRegion) (none spotpools.Description, err error) {
			all, err := a.spotPools(ctx, nil)
			if err != nil {
				return none, err
			}
			return one(all.value.SpotPools, func(p spotpools.Description) bool { return p.Region == in.Region && p.Name == in.Name },
				"spot_pool/"+in.Region+"/"+in.Name)
		})
	get(a, "/budgets", "listBudgets", "Budgets, as the last run measured them", a.budgets)
	get(a, "/budgets/{name}", "getBudget", "One budget, as the last run measured it",
		func(ctx context.Context, in *Named) (none budgets.Description, err error) {
			all, err := a.budgets(ctx, nil)
			if err != nil {
				return none, err
			}
			return one(all.value.Budgets, func(b budgets.Description) bool { return b.Name == in.Name }, "budget/"+in.Name)
		})
	get(a, "/stockpools", "listStockPools", "Stock pools, as observed now", a.stockPools)
	get(a, "/stockpools/{namespace}/{name}", "getStockPool", "One stock pool, as observed now",
		func(ctx context.Context, in *InNamespace) (none stockpools.Description, err error) {
			all, err := a.stockPools(ctx, nil)
			if err != nil {
				return none, err
			}
			return one(all.value.StockPools, func(p stockpools.Description) bool { return p.Namespace == in.Namespace && p.Name == in.Name },
				"stock_pool/"+in.Namespace+"/"+in.Name)
		})
}

// one returns the only object that fits.
func one[T any](list []T, fits func(T) bool, object string) (none T, _ error) {
	at := slices.IndexFunc(list, fits)
	if at < 0 {
		return none, notFound(object)
	}
	return list[at], nil
}

// status is of everything, and so for those who may read all.
func (a *api) status(ctx context.Context, _ *nothing) (*shared[reconcile.StatusReport], error) {
	if all, err := a.seesAll(ctx); err != nil || !all {
		return nil, orForbidden(err)
	}
	s, err := a.Source.Shared(ctx, snapshot.All)
	if err != nil {
		return nil, err
	}
	return snapshot.DeriveAhead(s, everyone, func(s *snapshot.Status) (*shared[reconcile.StatusReport], error) {
		return newShared(s.StatusReport).ahead()
	})
}

// seesAll reports whether the user may read objects of all kinds and namespaces.
func (a *api) seesAll(ctx context.Context) (bool, error) {
	return access.UserOf(ctx).SeesAll(ctx)
}

func orForbidden(err error) error {
	if err == nil {
		return errForbidden
	}
	return err
}

// header returns the part of a list that is not its objects.
func header(r reconcile.StatusReport) List {
	return List{SchemaVersion: r.SchemaVersion, At: r.At, Store: r.Store, Warnings: append(reason.Reasons{}, r.Warnings...)}
}

// everyone is the key of what those share who may read all objects.
var everyone *access.User

// list returns the list of the user. It is made once for each status: for all who may read all, and
// for each other user. A user is valid for a while, so that a list does not outlive their rights.
func list[T any](ctx context.Context, a *api, kind snapshot.Kind, build func(r reconcile.StatusReport) T) (*shared[T], error) {
	s, err := a.Source.Shared(ctx, kind)
	if err != nil {
		return nil, err
	}
	v, err := a.view(ctx)
	if err != nil {
		return nil, err
	}
	if v.all {
		return snapshot.DeriveAhead(s, everyone, func(s *snapshot.Status) (*shared[T], error) { return newShared(build(s.StatusReport)).ahead() })
	}
	return snapshot.Derive(s, v.user, func(s *snapshot.Status) (*shared[T], error) {
		seen, err := visible(ctx, v, s.StatusReport)
		return newShared(build(seen)), err
	})
}

func (a *api) spotPools(ctx context.Context, _ *nothing) (*shared[SpotPools], error) {
	if sees, err := access.UserOf(ctx).Allows(ctx, access.Get, access.SpotPools, ""); err != nil || !sees {
		return nil, orForbidden(err)
	}
	return list(ctx, a, snapshot.SpotPools, func(r reconcile.StatusReport) SpotPools { return SpotPools{header(r), r.SpotPools} })
}

func (a *api) budgets(ctx context.Context, _ *nothing) (*shared[Budgets], error) {
	return list(ctx, a, snapshot.Budgets, func(r reconcile.StatusReport) Budgets { return Budgets{header(r), r.Budgets} })
}

func (a *api) stockPools(ctx context.Context, _ *nothing) (*shared[StockPools], error) {
	return list(ctx, a, snapshot.StockPools, func(r reconcile.StatusReport) StockPools { return StockPools{header(r), r.StockPools} })
}

// filter returns the items of a list that the user sees.
func filter[T any](all []T, sees func(T) (bool, error)) ([]T, error) {
	seen := []T{}
	for _, item := range all {
		yes, err := sees(item)
		if err != nil {
			return nil, err
		}
		if yes {
			seen = append(seen, item)
		}
	}
	return seen, nil
}
