package cli

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// liveReport is the JSON of usage from the cluster and the ledger: that of a
// list of pods, and what is known beside it.
type liveReport struct {
	SchemaVersion int    `json:"schema_version"`
	Budget        string `json:"budget,omitempty"`
	*reconcile.UsageReport
	Overlaps []string   `json:"overlaps,omitempty"`
	Pods     []usagePod `json:"pods"`
	Warnings []string   `json:"warnings"`
}

// live answers from the cluster and the ledger.
func (o *usageOptions) live(ctx context.Context, budgets []string) error {
	for _, flag := range []string{"nodes", "at"} {
		if o.given(flag) {
			return usagef("--%s is for usage without a cluster: give the pods by --pods FILE, too", flag)
		}
	}
	asked, err := o.asked(budgets)
	if err != nil {
		return &usageError{err}
	}
	engine, err := o.engine(ctx, asked.Name == "")
	if err != nil {
		return err
	}
	progress := o.session.startProgress()
	var live reconcile.LiveUsage
	if asked.Name != "" {
		live, err = engine.BudgetUsage(ctx, asked.Name)
	} else {
		live, err = engine.Usage(ctx, asked)
	}
	progress.stop()
	if err != nil {
		return err
	}
	report := newLiveReport(live)
	if o.output == asJSON {
		return o.session.putJSON(report, true)
	}
	for _, text := range report.Warnings {
		o.session.warn(text)
	}
	return o.session.put([]byte(liveText(o.session.styleOf(o.session.Stdout), report, live)))
}

// asked is what the flags select; of a declared budget only its name.
func (o *usageOptions) asked(budgets []string) (budget.Declaration, error) {
	if len(budgets) > 0 {
		for _, flag := range []string{"namespace", "selector", "window", "gpu-hours", "count-from", "weight"} {
			if o.given(flag) {
				return budget.Declaration{}, fmt.Errorf("--%s and a budget's name don't go together: the budget has its own", flag)
			}
		}
		if budgets[0] == "" {
			return budget.Declaration{}, errors.New("the budget's name is empty")
		}
		return budget.Declaration{Name: budgets[0]}, nil
	}
	terms, err := o.terms()
	if err != nil {
		return budget.Declaration{}, err
	}
	d := budget.Declaration{Window: o.window, GPUHours: o.gpuHours, CountFrom: budget.CountFrom(o.countFrom), ResourceWeights: terms.rules.Weights}
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

// engine reaches the cluster, and the store with the ledger. A selector can do
// without one.
func (o *usageOptions) engine(ctx context.Context, anySelector bool) (*reconcile.Engine, error) {
	place, err := o.store.open(ctx, o.session, false)
	if anySelector && errors.Is(err, store.ErrNoStore) {
		o.session.warn("there is no store, and so no ledger: pods that are gone are not counted")
		place, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	log := o.session.log.logger(o.session.Process)
	return &reconcile.Engine{Cluster: o.store.kube.cluster(o.session), Store: place, Actor: o.store.actor, Log: log}, nil
}

func newLiveReport(live reconcile.LiveUsage) liveReport {
	report := liveReport{
		SchemaVersion: 1, Budget: live.Declaration.Name, UsageReport: reconcile.NewUsageReport(live.Usage, live.At, live.ExceededSince),
		Overlaps: live.Overlaps, Pods: []usagePod{}, Warnings: append([]string{}, live.Warnings...),
	}
	for n := range live.Pods {
		report.Pods = append(report.Pods, usagePodOf(&live.Pods[n].Record, live.Pods[n].PodUsage))
	}
	return report
}

// liveText is the usage for people, with how sure it is.
func liveText(look style, r liveReport, live reconcile.LiveUsage) string {
	window := live.Declaration.Window
	if live.Declaration.Period != "" {
		window = string(live.Declaration.Period)
	}
	text := usageText(look, usageReport{
		ConsumedGPUHours: r.ConsumedGPUHours, ConsumedMilliGPUSeconds: r.ConsumedMilliGPUSeconds,
		RemainingGPUHours: r.RemainingGPUHours, Exceeded: r.Exceeded, ExceededSince: r.ExceededSince,
		TrackedPods: r.TrackedPods, Pods: r.Pods,
	}, usageQuestion{at: r.AsOf, usageTerms: usageTerms{window: window, limit: live.Usage.Limit}})
	if live.Usage.Estimated > 0 || live.Usage.ErrorBound > 0 {
		text += fmt.Sprintf("%s of it are estimated; it may be wrong by %s\n", r.EstimatedGPUHours, r.ErrorBoundGPUHours)
	}
	if live.Usage.Coverage < 1000 {
		text += fmt.Sprintf("%d.%d%% of the window until now was observed\n", live.Usage.Coverage/10, live.Usage.Coverage%10)
	}
	if live.Usage.BurnRate > 0 {
		held := r.BurnRateGPUs + " GPUs are"
		if live.Usage.BurnRate == 1000 {
			held = "1 GPU is"
		}
		text += fmt.Sprintf("%s held now, by %s", held, plural(r.ActivePods, "pod"))
		if r.ProjectedExhaustion != nil {
			text += ": used up at " + r.ProjectedExhaustion.UTC().Format(time.RFC3339)
		}
		text += "\n"
	}
	return text
}
