package budgets

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// LiveUsage is the use of a budget, or of any selector, this very moment: the
// ledger and a fresh look at the cluster, merged in memory.
type LiveUsage struct {
	Declaration budget.Declaration
	At          time.Time // the cluster's clock
	Usage       budget.Usage
	// ExceededSince is nil while used is below the limit, and without a limit.
	ExceededSince *time.Time
	Overlaps      []string  // other budgets that count some of the same pods
	Pods          []PodUsed // by namespace and name
	Warnings      []string
}

// PodUsed is one pod that held GPUs in the window.
type PodUsed struct {
	Record ledger.Record
	budget.PodUsage
}

// UsageOf is the use of a declared budget. Nothing is written.
func (f *Flow) UsageOf(ctx context.Context, name string) (LiveUsage, error) {
	d, err := f.Find(ctx, name)
	if err != nil {
		return LiveUsage{}, err
	}
	c, err := f.clusterOf(ctx, d)
	if err != nil {
		return LiveUsage{}, err
	}
	return f.usage(ctx, c, d.ClusterUID, d.WithDefaults())
}

// Usage is the use of what a declaration selects, whether or not it is declared
// anywhere; without GPUHours there is no limit. Without a store there is no
// ledger either, and pods that are gone are not known. Nothing is written.
func (f *Flow) Usage(ctx context.Context, d budget.Declaration) (LiveUsage, error) {
	c, uid, err := f.cluster(ctx)
	if err != nil {
		return LiveUsage{Declaration: d}, err
	}
	return f.usage(ctx, c, uid, d)
}

func (f *Flow) usage(ctx context.Context, c Cluster, uid string, d budget.Declaration) (LiveUsage, error) {
	live := LiveUsage{Declaration: d}
	declared, err := f.declaredIn(ctx, uid)
	if err != nil {
		return live, err
	}
	others := slices.DeleteFunc(declared, func(o budget.Declaration) bool { return o.Name == d.Name && o.UID == d.UID })
	b, err := f.account(ctx, c, uid, append(slices.Clone(others), d))
	if err != nil {
		return live, err
	}
	live.At, live.Warnings = b.now(), b.warnings
	judged := d
	if judged.GPUHours == "" {
		judged.GPUHours = fmt.Sprint(budget.MaxGPUHours)
	}
	result := budget.Evaluate(append([]budget.Declaration{judged}, others...), b.ledger.All(), b.ledger.Header, b.now(), time.LoadLocation)[0]
	if result.Err != nil {
		return live, result.Err
	}
	live.Usage, live.ExceededSince, live.Overlaps = result.Usage, result.ExceededSince, result.Overlaps
	if d.GPUHours == "" {
		live.Usage.Limit, live.Usage.ProjectedExhaustion, live.ExceededSince = 0, nil, nil
	}
	for _, lost := range result.Lost {
		live.Warnings = append(live.Warnings, "part of the ledger is lost, so usage may be higher: "+lost)
	}
	if result.Forgotten {
		live.Warnings = append(live.Warnings, fmt.Sprintf("what ended before %s is forgotten, since no budget's window reached back to it then: usage may be higher", result.KnownSince.Format(time.RFC3339)))
	}
	live.Pods, err = podsUsed(d, b)
	return live, err
}

// podsUsed measures each pod.
func podsUsed(d budget.Declaration, b *books) ([]PodUsed, error) {
	meter, err := b.meter(d)
	if err != nil {
		return nil, err
	}
	var pods []PodUsed
	for r := range b.ledger.All() {
		if used, counted := meter.Pod(r); counted {
			pods = append(pods, PodUsed{Record: *r, PodUsage: used})
		}
	}
	slices.SortFunc(pods, func(a, b PodUsed) int {
		return strings.Compare(a.Record.Set.Namespace+"/"+a.Record.Name+"/"+a.Record.UID, b.Record.Set.Namespace+"/"+b.Record.Name+"/"+b.Record.UID)
	})
	return pods, nil
}

// declaredIn lists the budgets that are declared for a cluster. What can't be
// read is left to the next run to tell of.
func (f *Flow) declaredIn(ctx context.Context, clusterUID string) ([]budget.Declaration, error) {
	if f.Keeper.Store == nil {
		return nil, nil
	}
	list, err := f.records().List(ctx)
	if err != nil {
		return nil, err
	}
	var declared []budget.Declaration
	for _, b := range list {
		if b.Err == nil && b.Record.Declaration.ClusterUID == clusterUID {
			declared = append(declared, b.Record.Declaration.WithDefaults())
		}
	}
	return declared, nil
}
