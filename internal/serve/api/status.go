package api

import (
	"context"
	"slices"
	"time"

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
	// The location of the store.
	Store string `json:"store"`
	// Warnings that concern all objects.
	Warnings []string `json:"warnings"`
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
			list, err := a.spotPools(ctx, nil)
			return one(list.SpotPools, err, func(p spotpools.Description) bool { return p.Region == in.Region && p.Name == in.Name },
				"spot_pool/"+in.Region+"/"+in.Name)
		})
	get(a, "/budgets", "listBudgets", "Budgets, as the last run measured them", a.budgets)
	get(a, "/budgets/{name}", "getBudget", "One budget, as the last run measured it",
		func(ctx context.Context, in *Named) (none budgets.Description, err error) {
			list, err := a.budgets(ctx, nil)
			return one(list.Budgets, err, func(b budgets.Description) bool { return b.Name == in.Name }, "budget/"+in.Name)
		})
	get(a, "/stockpools", "listStockPools", "Stock pools, as observed now", a.stockPools)
	get(a, "/stockpools/{namespace}/{name}", "getStockPool", "One stock pool, as observed now",
		func(ctx context.Context, in *InNamespace) (none stockpools.Description, err error) {
			list, err := a.stockPools(ctx, nil)
			return one(list.StockPools, err, func(p stockpools.Description) bool { return p.Namespace == in.Namespace && p.Name == in.Name },
				"stock_pool/"+in.Namespace+"/"+in.Name)
		})
}

// one returns the only object that fits.
func one[T any](list []T, err error, fits func(T) bool, object string) (none T, _ error) {
	if err != nil {
		return none, err
	}
	at := slices.IndexFunc(list, fits)
	if at < 0 {
		return none, notFound(object)
	}
	return list[at], nil
}

// status is of everything, and so for those who may read all.
func (a *api) status(ctx context.Context, _ *nothing) (reconcile.StatusReport, error) {
	if all, err := a.seesAll(ctx); err != nil || !all {
		return reconcile.StatusReport{}, orForbidden(err)
	}
	return a.Source.Status(ctx, snapshot.All)
}

// seesAll reports whether the user may read objects of all kinds and namespaces.
func (a *api) seesAll(ctx context.Context) (bool, error) {
	for _, resource := range []string{access.SpotPools, access.Budgets, access.StockPools} {
		if sees, err := access.UserOf(ctx).Allows(ctx, access.Get, resource, ""); err != nil || !sees {
			return false, err
		}
	}
	return true, nil
}

func orForbidden(err error) error {
	if err == nil {
		return errForbidden
	}
	return err
}

// header returns the part of a list that is not its objects. Warnings about all objects name any
// of them, and so are for those who see all.
func header(r reconcile.StatusReport, all bool) List {
	of := List{SchemaVersion: r.SchemaVersion, At: r.At, Store: r.Store, Warnings: []string{}}
	if all {
		of.Warnings = append(of.Warnings, r.Warnings...)
	}
	return of
}

func (a *api) spotPools(ctx context.Context, _ *nothing) (SpotPools, error) {
	if all, err := access.UserOf(ctx).Allows(ctx, access.Get, access.SpotPools, ""); err != nil || !all {
		return SpotPools{}, orForbidden(err)
	}
	r, err := a.Source.Status(ctx, snapshot.SpotPools)
	return SpotPools{header(r, true), r.SpotPools}, err
}

func (a *api) budgets(ctx context.Context, _ *nothing) (Budgets, error) {
	r, err := a.Source.Status(ctx, snapshot.Budgets)
	if err != nil {
		return Budgets{}, err
	}
	all, err := access.UserOf(ctx).Allows(ctx, access.Get, access.Budgets, "")
	if err != nil || all {
		return Budgets{header(r, true), r.Budgets}, err
	}
	list := Budgets{header(r, false), []budgets.Description{}}
	for _, b := range r.Budgets {
		sees, err := access.UserOf(ctx).SeesBudget(ctx, b.Selector)
		if err != nil {
			return Budgets{}, err
		}
		if sees {
			list.Budgets = append(list.Budgets, b)
		}
	}
	return visibleList(ctx, a, list)
}

func (a *api) stockPools(ctx context.Context, _ *nothing) (StockPools, error) {
	r, err := a.Source.Status(ctx, snapshot.StockPools)
	if err != nil {
		return StockPools{}, err
	}
	all, err := access.UserOf(ctx).Allows(ctx, access.Get, access.StockPools, "")
	if err != nil || all {
		return StockPools{header(r, true), r.StockPools}, err
	}
	list := StockPools{header(r, false), []stockpools.Description{}}
	for _, p := range r.StockPools {
		sees, err := access.UserOf(ctx).Allows(ctx, access.Get, access.StockPools, p.Namespace)
		if err != nil {
			return StockPools{}, err
		}
		if sees {
			list.StockPools = append(list.StockPools, p)
		}
	}
	return visibleList(ctx, a, list)
}

func visibleList[T any](ctx context.Context, a *api, list T) (T, error) {
	v, err := a.view(ctx)
	if err != nil {
		return list, err
	}
	return visible(ctx, v, list)
}
