package usage

import (
	"context"
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// LiveReport is the JSON of usage from the cluster and the ledger: that of a list of
// pods, and what else is known.
type LiveReport struct {
	SchemaVersion int    `json:"schema_version"`
	Budget        string `json:"budget,omitempty"`
	*budgets.UsageReport
	Overlaps []string `json:"overlaps,omitempty"`
	Pods     []Pod    `json:"pods"`
	Warnings []string `json:"warnings"`
}

// live prints usage from the cluster and the ledger.
func (o *options) live(ctx context.Context, names []string) error {
	for _, flag := range []string{"nodes", "at"} {
		if o.given(flag) {
			return process.Usagef("--%s is for usage without a cluster: give the pods by --pods FILE, too", flag)
		}
	}
	asked, err := o.declaration(names)
	if err != nil {
		return process.WrongUsage(err)
	}
	engine, err := o.engine(ctx, asked.Name == "")
	if err != nil {
		return err
	}
	progress := o.session.StartProgress()
	var live budgets.LiveUsage
	if asked.Name != "" {
		live, err = engine.Budgets().UsageOf(ctx, asked.Name)
	} else {
		live, err = engine.Budgets().Usage(ctx, asked)
	}
	progress.Stop()
	if err != nil {
		return err
	}
	report := newLiveReport(live)
	if !o.session.JSON() { // which has them
		o.session.Warn(report.Warnings...)
	}
	return o.session.Print(report, func(style terminal.Style) string { return liveText(style, report, live) })
}

// declaration is the question as a budget: one that was named, of which only the name
// is known here, or one that selects the same pods as the flags.
func (o *options) declaration(names []string) (budget.Declaration, error) {
	if len(names) > 0 {
		for _, flag := range []string{"namespace", "selector", "window", "gpu-hours", "count-from", "weight"} {
			if o.given(flag) {
				return budget.Declaration{}, fmt.Errorf("--%s and a budget's name don't go together: the budget has its own", flag)
			}
		}
		if names[0] == "" {
			return budget.Declaration{}, errors.New("the budget's name is empty")
		}
		return budget.Declaration{Name: names[0]}, nil
	}
	q, err := o.question()
	if err != nil {
		return budget.Declaration{}, err
	}
	d := budget.Declaration{Window: o.window, GPUHours: o.gpuHours, CountFrom: budget.CountFrom(o.countFrom), ResourceWeights: q.rules.Weights}
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

// engine reaches the cluster, and the store with the ledger. A selector needs no
// store.
func (o *options) engine(ctx context.Context, anySelector bool) (*reconcile.Engine, error) {
	place, err := o.store.Open(ctx, false)
	if anySelector && errors.Is(err, store.ErrNoStore) {
		o.session.Warn("there is no store, and so no ledger: pods that are gone are not counted")
		place, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return o.store.Engine(place, nil, o.store.Cluster()), nil
}

// newLiveReport is the JSON of what the engine found.
func newLiveReport(live budgets.LiveUsage) LiveReport {
	report := LiveReport{
		SchemaVersion: 1, Budget: live.Declaration.Name, UsageReport: budgets.NewUsageReport(live.Usage, live.At, live.ExceededSince),
		Overlaps: live.Overlaps, Pods: []Pod{}, Warnings: append([]string{}, live.Warnings...),
	}
	for n := range live.Pods {
		report.Pods = append(report.Pods, podOf(&live.Pods[n].Record, live.Pods[n].PodUsage))
	}
	return report
}
