package spotpools_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// errShort says that an operation ended with a warning of a shortfall.
var errShort = errors.New("the pool stays short")

// errUnsettled says that an operation's time was up before all that it began showed.
var errUnsettled = errors.New("the pool is not settled yet")

// shortOr is what an operation says of its end.
func shortOr(state spotpools.State, err error) error {
	switch {
	case err != nil:
		return err
	case state.Plan.Shortfall > 0:
		return errShort
	case slices.ContainsFunc(state.AllWarnings().Texts(), func(text string) bool { return strings.Contains(text, "still launching") }):
		return errUnsettled
	}
	return nil
}

func size(minimum, maximum int) func(*spotpool.Declaration) {
	return func(d *spotpool.Declaration) { d.Minimum, d.Maximum = minimum, maximum }
}

func create(ctx context.Context, p reconcile.World, d spotpool.Declaration) error {
	return shortOr(p.SpotPools().Create(ctx, d, reconciletest.LongWait))
}

func createAgain(w *world, d spotpool.Declaration) {
	_, err := w.Pools(nil).Create(context.Background(), d, reconciletest.LongWait)
	var exists *record.ExistsError
	if errors.As(err, &exists) { // it was finished, and Terraform never heard of it: it is imported
		err = importAndApply(context.Background(), w.Process(nil), d)
	}
	if err != nil {
		w.t.Errorf("creating again: %v", err)
	}
}

// importAndApply is terraform import, the refresh that follows it, and an apply of
// the configuration that the pool was to be created with.
func importAndApply(ctx context.Context, p reconcile.World, d spotpool.Declaration) error {
	found, err := p.SpotPools().Find(ctx, d.Region, d.Name)
	if err != nil {
		return err
	}
	state, err := p.SpotPools().View(ctx, found)
	if err != nil {
		return err
	}
	d.UID, d.AccountID, d.Generation = state.Declaration.UID, state.Declaration.AccountID, state.Declaration.Generation
	return shortOr(p.SpotPools().Update(ctx, d, reconciletest.LongWait))
}

func importAgain(w *world, d spotpool.Declaration) {
	if err := importAndApply(context.Background(), w.Process(nil), d); err != nil {
		w.t.Errorf("importing and applying again: %v", err)
	}
}

// update applies a change to the pool as it was planned over.
func update(change func(*spotpool.Declaration)) func(context.Context, reconcile.World, spotpool.Declaration) error {
	return func(ctx context.Context, p reconcile.World, d spotpool.Declaration) error {
		change(&d)
		return shortOr(p.SpotPools().Update(ctx, d, reconciletest.LongWait))
	}
}

// updateAgain plans and applies the same change again, as the next terraform apply would.
func updateAgain(change func(*spotpool.Declaration)) func(*world, spotpool.Declaration) {
	return func(w *world, d spotpool.Declaration) {
		state, err := w.Pools(nil).View(context.Background(), d)
		if err != nil {
			w.t.Errorf("refreshing: %v", err)
			return
		}
		change(&state.Declaration)
		if _, err := w.Pools(nil).Update(context.Background(), state.Declaration, reconciletest.LongWait); err != nil {
			w.t.Errorf("updating again: %v", err)
		}
	}
}

func destroy(ctx context.Context, p reconcile.World, d spotpool.Declaration) error {
	_, err := p.SpotPools().Delete(ctx, d, reconciletest.LongWait)
	return err
}

func destroyAgain(w *world, d spotpool.Declaration) {
	if _, err := w.Pools(nil).Delete(context.Background(), d, reconciletest.LongWait); err != nil {
		w.t.Errorf("deleting again: %v", err)
	}
	w.gone(d)
}

func reconcileOnce(ctx context.Context, p reconcile.World, _ spotpool.Declaration) error {
	return runOnce(ctx, p)
}

func runOnce(ctx context.Context, process reconcile.World) error {
	report, err := process.Runner().Run(ctx, reconcile.RunOptions{Wait: true, WaitTimeout: reconciletest.LongWait})
	if err != nil {
		return err
	}
	for _, p := range report.SpotPools {
		if p.Error != nil {
			return fmt.Errorf("%s: %s", p.Outcome, p.Error.Message)
		}
	}
	return nil
}
