package usage

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/usage"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// live prints usage from the cluster and the ledger.
func (o *options) live(ctx context.Context, names []string) error {
	asked, err := o.liveQuestion(names)
	if err != nil {
		return process.WrongUsage(err)
	}
	list, err := o.listing()
	if err != nil {
		return err
	}
	if o.exitCode && o.gpuHours == "" && (asked.Budget == "" || o.given("window") || o.given("period")) {
		return process.WrongUsage(errNoLimit)
	}
	flow, err := o.budgets(ctx, asked.Budget == "")
	if err != nil {
		return err
	}
	progress := o.session.StartProgress()
	live, err := flow.Ask(ctx, asked)
	progress.Stop()
	if err != nil {
		return err
	}
	report := usage.NewReport(live, list)
	if !o.session.JSON() { // JSON contains them
		o.session.Warn(report.Warnings.Texts()...)
	}
	if o.session.Output(process.CSV) {
		err = o.session.Put(csvText(report.Pods, report.Listed))
	} else {
		how := textOptions{listing: list, clock: o.clock(live.Declaration), past: !asked.At.IsZero()}
		err = o.session.Print(report, func(style terminal.Style) string { return liveText(style, report, live, how) })
	}
	if err != nil {
		return err
	}
	return o.verdict(report.Exceeded != nil && *report.Exceeded)
}

// liveQuestion returns the question about a budget, or about a selection of pods.
func (o *options) liveQuestion(names []string) (budgets.Question, error) {
	asked := budgets.Question{}
	if o.given("nodes") {
		return asked, errors.New("--nodes needs --pods FILE")
	}
	var err error
	if asked.At, err = o.moment(); err != nil {
		return asked, err
	}
	if len(names) == 0 {
		asked.Declaration, err = o.declaration()
		return asked, err
	}
	for _, flag := range []string{"namespace", "selector", "count-from", "weight"} {
		if o.given(flag) {
			return asked, fmt.Errorf("--%s cannot be combined with a budget, which has its own", flag)
		}
	}
	if asked.Budget = names[0]; asked.Budget == "" {
		return asked, errors.New("the name of the budget is empty")
	}
	asked.Over, err = o.windowAndLimit()
	return asked, err
}

// declaration returns a budget with the selection of the flags.
func (o *options) declaration() (budget.Declaration, error) {
	q, err := o.question()
	if err != nil {
		return budget.Declaration{}, err
	}
	d := q.declared
	d.Name, d.GPUHours, d.ResourceWeights = "", o.gpuHours, q.rules.Weights
	if o.given("selector") {
		selector, err := budget.ParseSelector(o.selector)
		if err != nil {
			return d, fmt.Errorf("--selector: %w", err)
		}
		d.Selector = selector
	}
	d.Selector.Namespaces = o.namespaces
	return d.WithDefaults(), nil
}

// budgets returns the flow for the cluster and the ledger. A selector needs no store.
func (o *options) budgets(ctx context.Context, anySelector bool) (*budgets.Flow, error) {
	place, err := o.store.Open(ctx, false)
	if anySelector && errors.Is(err, store.ErrNoStore) {
		o.session.Warn("no store, and so no ledger: deleted pods are not counted")
		place, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return o.store.World(place, nil, o.store.Cluster()).Budgets(), nil
}
