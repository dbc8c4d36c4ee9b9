package spotpools_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// paidIn is a cloud whose account pays in another currency.
type paidIn struct {
	spotpools.Cloud
	currency spotpool.Currency
}

func (c paidIn) Account(ctx context.Context) (spotpool.Account, error) {
	account, err := c.Cloud.Account(ctx)
	account.Currency = c.currency
	return account, err
}

// in is a new process with prices in a currency.
func (w *world) in(currency spotpool.Currency) reconcile.World {
	p := w.Process(nil)
	p.Cloud = paidIn{p.Cloud, currency}
	return p
}

// change writes the record of a pool.
func (w *world) change(d spotpool.Declaration, change func(*spotpool.Declaration)) {
	w.t.Helper()
	records := record.SpotPools(record.Repository{Store: w.Store()})
	r, err := records.Load(context.Background(), d.Key())
	if err != nil || !r.Exists() {
		w.t.Fatal(r, err)
	}
	change(&r.Value.Declaration)
	if _, err := records.Save(context.Background(), r, declaration.Active, r.Value.Declaration); err != nil {
		w.t.Fatal(err)
	}
}

// TestPricesInAnotherCurrencyRefuseThePool, until an apply accepts them.
func TestPricesInAnotherCurrencyRefuseThePool(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 4)
	if d.Currency != "CNY" {
		t.Fatalf("the new pool is in %q", d.Currency)
	}
	w.Reclaim(1)
	before := w.Launched()
	const refusal = "spot_pool/ap-singapore/train has its prices in CNY, and this connection in USD: nothing was changed. Set the currency to CNY " +
		"(currency or GPUPOOL_CURRENCY). If the account pays in USD, apply the pool again: max_hourly_cost and spot_max_price are then in USD"
	report, err := w.in("USD").Runner().Run(context.Background(), reconcile.RunOptions{})
	if err != nil || len(report.SpotPools) != 1 {
		t.Fatal(report, err)
	}
	if p := report.SpotPools[0]; p.Outcome != outcome.Failed || p.Error == nil || p.Error.Reason.String() != refusal {
		t.Errorf("the run: %s, %+v", p.Outcome, p.Error)
	}
	status, err := w.in("USD").Runner().Status(context.Background())
	if err != nil || len(status.SpotPools) != 1 {
		t.Fatal(status, err)
	}
	if p := status.SpotPools[0]; p.Observed || p.Currency != "CNY" || p.Error == nil || p.Error.Reason.String() != refusal {
		t.Errorf("the status: %+v", p)
	}
	var refused *spotpool.CurrencyError
	if err := w.in("USD").SpotPools().Adopt(context.Background(), d.Region, d.Name, nil, false); !errors.As(err, &refused) {
		t.Errorf("adopting: %v", err)
	}
	if w.Launched() != before {
		t.Error("instances were launched")
	}
	viewed, err := w.in("USD").SpotPools().View(context.Background(), d)
	if err != nil || viewed.Plan.Capacity != 1 || viewed.Declaration.Currency != "CNY" {
		t.Errorf("a refresh: %+v, %v", viewed.Plan.Counts, err)
	}
	state, err := w.in("USD").SpotPools().Update(context.Background(), d, reconciletest.LongWait)
	if err != nil || state.Declaration.Currency != "USD" || state.Plan.Capacity != 2 || state.Declaration.Generation != d.Generation+1 {
		t.Fatalf("an apply: %+v, %+v, %v", state.Declaration, state.Plan.Counts, err)
	}
	if report, err = w.in("USD").Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil || report.SpotPools[0].Outcome != outcome.Done {
		t.Errorf("a run after the apply: %+v, %v", report.SpotPools, err)
	}
}

// TestAPoolIsDestroyedWithPricesInAnyCurrency: no price counts any more, and instances cost money.
func TestAPoolIsDestroyedWithPricesInAnyCurrency(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 4)
	if _, err := w.in("USD").SpotPools().Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	w.gone(d)
}

// TestAPoolWithoutACurrencyTakesItAtTheNextApply: before that, runs use that of the connection.
func TestAPoolWithoutACurrencyTakesItAtTheNextApply(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	d := w.MustCreate(2, 4)
	w.change(d, func(d *spotpool.Declaration) { d.Currency = "" })
	for _, currency := range []spotpool.Currency{"CNY", "USD"} {
		report, err := w.in(currency).Runner().Run(context.Background(), reconcile.RunOptions{})
		if err != nil || report.SpotPools[0].Outcome != outcome.Done || report.SpotPools[0].Currency != currency {
			t.Errorf("a run in %s: %+v, %v", currency, report.SpotPools, err)
		}
	}
	viewed, err := w.in("USD").SpotPools().View(context.Background(), d)
	if err != nil || viewed.Declaration.Currency != "" {
		t.Fatalf("%+v, %v", viewed.Declaration, err)
	}
	if _, err := w.in("USD").SpotPools().Update(context.Background(), viewed.Declaration, reconciletest.LongWait); err != nil {
		t.Fatal(err)
	}
	if viewed, err = w.in("USD").SpotPools().View(context.Background(), d); err != nil || viewed.Declaration.Currency != "USD" {
		t.Errorf("after an apply: %+v, %v", viewed.Declaration, err)
	}
}

// TestTotalsOfPoolsInTwoCurrencies: pools in the other currency are refused, and add nothing.
func TestTotalsOfPoolsInTwoCurrencies(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.MustCreate(2, 4)
	other := reconciletest.Pool(1, 1)
	other.Name = "infer"
	other = w.MustCreateAs(other)
	w.change(other, func(d *spotpool.Declaration) { d.Currency = "USD" })
	for _, currency := range []spotpool.Currency{"CNY", "USD"} {
		status, err := w.in(currency).Runner().Status(context.Background())
		if err != nil || len(status.SpotPools) != 2 {
			t.Fatal(status, err)
		}
		var want spotpool.Costs
		for _, p := range status.SpotPools {
			if p.Observed != (p.Currency == currency) {
				t.Errorf("in %s, %s of %s is observed: %v", currency, p.Name, p.Currency, p.Observed)
			}
			want = want.Add(p.Cost())
		}
		if got := status.Totals.SpotPools.HourlyPrices; len(got) != 1 || got[0] != want[0] || got[0].Currency != currency {
			t.Errorf("in %s: %v, want %v", currency, got, want)
		}
	}
}
