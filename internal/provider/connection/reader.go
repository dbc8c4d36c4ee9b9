package connection

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/stockpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// PoolReader reads and plans spot pools.
type PoolReader interface {
	View(ctx context.Context, d spotpool.Declaration) (spotpools.State, error)
	Preview(ctx context.Context, d spotpool.Declaration) (decide.Plan, error)
	SameBudget(ctx context.Context, d spotpool.Declaration) error
	Find(ctx context.Context, region, name string) (spotpool.Declaration, error)
	Markets(ctx context.Context, region string) (spotpool.Markets, error)
	Gate(ctx context.Context, d spotpool.Declaration) (spotpool.Gate, error)
	Forecast(ctx context.Context, d spotpool.Declaration, offers []spotpool.Offer) (*spotpools.Forecast, error)
}

// BudgetReader reads budgets.
type BudgetReader interface {
	View(ctx context.Context, d budget.Declaration) (budgets.State, error)
	Find(ctx context.Context, name string) (budget.Declaration, error)
	Doubts(ctx context.Context, d budget.Declaration) ([]budgets.Doubt, error)
	Refusal(ctx context.Context, d budget.Declaration) error
}

// StockReader reads stock pools.
type StockReader interface {
	View(ctx context.Context, d stockpool.Declaration) (stockpools.State, error)
	Find(ctx context.Context, namespace, name string) (stockpool.Declaration, error)
	Refusal(ctx context.Context, d stockpool.Declaration) error
}

// NotificationReader reads notifications.
type NotificationReader interface {
	View(ctx context.Context, d notification.Declaration) (notifications.State, error)
	Find(ctx context.Context, name string) (notification.Declaration, error)
	Refusal(ctx context.Context, d notification.Declaration) error
}

// ReadSpotPools returns the flow for refreshes, plans, imports and data sources. As the
// others, it opens the store for reading. A store that does not exist reads as an empty
// one, and is not created; LostStore warns of it.
func (c *Connection) ReadSpotPools(ctx context.Context) (PoolReader, error) {
	f, err := c.reading(ctx)
	return f.spotPools, err
}

// ReadBudgets returns the flow for refreshes, plans, imports and data sources.
func (c *Connection) ReadBudgets(ctx context.Context) (BudgetReader, error) {
	f, err := c.reading(ctx)
	return f.budgets, err
}

// ReadStockPools returns the flow for refreshes, plans, imports and data sources.
func (c *Connection) ReadStockPools(ctx context.Context) (StockReader, error) {
	f, err := c.reading(ctx)
	return f.stockPools, err
}

// ReadNotifications returns the flow for refreshes, plans and imports.
func (c *Connection) ReadNotifications(ctx context.Context) (NotificationReader, error) {
	f, err := c.reading(ctx)
	return f.notifications, err
}

func (c *Connection) reading(ctx context.Context) (flows, error) {
	f, err := c.prepared(ctx)
	if err != nil {
		return flows{}, err
	}
	if err := f.place.Open(ctx); err != nil {
		return flows{}, unusable{err}
	}
	return f, nil
}

// LostStore warns where the store does not exist. It is for objects of a Terraform
// state, which were recorded once. Its headline is the same for all of them, so that
// Terraform shows it once.
func (c *Connection) LostStore() diag.Diagnostics {
	var diags diag.Diagnostics
	a, err := c.prepared(context.Background())
	if err != nil {
		return diags
	}
	if absent := a.place.Absent(); absent != nil {
		diags.Append(problem.Warning(path.Empty(), reason.StoreMissing(reason.Foreign(strings.TrimSuffix(absent.Error(), ".")))))
	}
	return diags
}
