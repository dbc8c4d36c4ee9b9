package budgets

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Question asks for the usage of a budget or any selector.
type Question struct {
	// Budget names a declared one. If empty, Declaration has the selector; without GPUHours there is
	// no limit.
	Budget      string
	Declaration budget.Declaration
	// Over overrides the declaration.
	Over Over
	// At is the time of the question; zero means now.
	At time.Time
}

// Over overrides the declared window or limit with its non-empty fields.
type Over struct {
	Window   string
	Period   budget.Period
	TimeZone string // of Period; if empty, that of the budget
	GPUHours string
	// BreakdownLabels are those of a replay.
	BreakdownLabels []string
}

// LiveUsage is the usage of a budget or any selector, now or in the past. It merges the ledger and a fresh
// observation of the cluster in memory.
type LiveUsage struct {
	Declaration budget.Declaration
	At          time.Time // by the cluster's clock, or of the question
	Usage       budget.Usage
	// ExceededSince is nil while usage is below the limit, and without a limit.
	ExceededSince *time.Time
	Overlaps      []string       // other budgets that count some of the same pods
	Pods          []PodUsed      // by namespace and name
	Grants        []budget.Grant // in force, part of the limit
	Warnings      reason.Reasons
}

// PodUsed is one pod that held GPUs in the window.
type PodUsed struct {
	Record ledger.Record
	meter.PodUsage
}

// Ask answers a question. Nothing is written. Without a store there is no ledger, and deleted pods are
// unknown.
func (f *Flow) Ask(ctx context.Context, q Question) (LiveUsage, error) {
	l, err := f.inquire(ctx, q)
	if err != nil {
		return LiveUsage{Declaration: q.Declaration}, err
	}
	return l.answer(ctx, q)
}

// answer measures the usage at the time of the question.
func (l *inquiry) answer(ctx context.Context, q Question) (LiveUsage, error) {
	d := l.declaration
	if changed := l.declared; q.Over.GPUHours == "" && (d.Window != changed.Window || d.Period != changed.Period || d.TimeZone != changed.TimeZone) {
		d.GPUHours = "" // that applies to another window
	}
	judged := d
	if judged.GPUHours == "" {
		judged.GPUHours = fmt.Sprint(budget.MaxGPUHours)
	}
	granted, err := l.grants(ctx, d, q)
	if err != nil {
		return LiveUsage{Declaration: d}, err
	}
	judged = judged.Granted(granted, l.at)
	result := meter.Evaluate(append([]budget.Declaration{judged}, l.others...), l.Ledger().All(), l.Ledger().Header, l.at,
		time.LoadLocation)[0]
	if result.Err != nil {
		return LiveUsage{Declaration: d}, result.Err
	}
	live := LiveUsage{
		Declaration: d, At: l.at, Grants: granted.List, Usage: result.Usage, ExceededSince: result.ExceededSince, Overlaps: result.Overlaps,
		Warnings: append(l.Warnings, lostParts(result.Lost)...),
	}
	if d.GPUHours == "" {
		live.Usage.Limit, live.Usage.ProjectedExhaustion, live.ExceededSince = 0, nil, nil
	}
	if result.Forgotten {
		live.Warnings = append(live.Warnings, reason.UsageDropped(reason.Instant{Time: *result.KnownSince}))
	}
	live.Warnings = append(live.Warnings, budget.EstimateWarnings(live.Usage)...)
	live.Pods, err = l.podsUsed(d)
	return live, err
}

// grants returns the grants that are part of the limit; none if it is not the declared one.
func (l *inquiry) grants(ctx context.Context, d budget.Declaration, q Question) (budget.Grants, error) {
	if q.Budget == "" || q.Over.GPUHours != "" || d.GPUHours == "" {
		return budget.Grants{}, nil
	}
	all, err := record.Grants(l.flow.Repository).Of(ctx, d.UID)
	list := all.InForce(l.at)
	if !q.At.IsZero() {
		list = slices.DeleteFunc(list, func(g budget.Grant) bool { return g.From.After(l.at) })
	}
	return budget.Grants{List: list}, err
}

func lostParts(lost []string) (list reason.Reasons) {
	for _, document := range lost {
		list = append(list, reason.PartLost(reason.NewForeign(document)))
	}
	return list
}

// inquiry is the data that answers a question.
type inquiry struct {
	*accounting.Books
	flow        *Flow
	declared    budget.Declaration
	declaration budget.Declaration   // with the overrides
	others      []budget.Declaration // of the cluster
	at          time.Time
}

// inquire finds the subject of a question, and observes its cluster.
func (f *Flow) inquire(ctx context.Context, q Question) (*inquiry, error) {
	declared, c, uid, err := q.subject(ctx, f)
	if err != nil {
		return nil, err
	}
	all, err := declaredBudgets(ctx, f, uid)
	if err != nil {
		return nil, err
	}
	l := &inquiry{flow: f, declared: declared, declaration: q.Over.override(declared)}
	l.others = slices.DeleteFunc(all, func(o budget.Declaration) bool { return o.Name == declared.Name && o.UID == declared.UID })
	if l.Books, err = f.accountant().Account(ctx, c, uid, append(slices.Clone(l.others), l.declaration)); err != nil {
		return nil, err
	}
	l.at = l.Now()
	if q.At.IsZero() {
		return l, nil
	}
	l.at = q.At.UTC()
	return l, l.covers()
}

// subject returns the declaration that a question is about, and its cluster.
func (q Question) subject(ctx context.Context, f *Flow) (budget.Declaration, Cluster, string, error) {
	if q.Budget == "" {
		c, uid, err := f.cluster(ctx)
		return q.Declaration, c, uid, err
	}
	d, err := f.Find(ctx, q.Budget)
	if err != nil {
		return d, nil, "", err
	}
	c, err := f.clusterOf(ctx, d)
	return d.WithDefaults(), c, d.ClusterUID, err
}

func (o Over) override(d budget.Declaration) budget.Declaration {
	switch {
	case o.Window != "":
		d.Window, d.Period, d.TimeZone = o.Window, "", ""
	case o.Period != "":
		d.Window, d.Period, d.TimeZone = "", o.Period, cmp.Or(o.TimeZone, d.TimeZone)
	}
	d.GPUHours = cmp.Or(o.GPUHours, d.GPUHours)
	if o.BreakdownLabels != nil {
		d.BreakdownLabels = o.BreakdownLabels
	}
	return d.WithDefaults()
}

// covers returns an error if the ledger does not cover the time of the question.
func (l *inquiry) covers() error {
	if l.at.After(l.Now()) {
		return fmt.Errorf("%s is in the future: the cluster's clock is at %s", stamp(l.at), stamp(l.Now()))
	}
	since, err := l.coverageStart()
	if err == nil && l.at.Before(since) {
		err = fmt.Errorf("usage at %s is unknown: the ledger in the store %s begins at %s", stamp(l.at), l.flow.Repository.Store,
			stamp(wholeSecond(since)))
	}
	return err
}

// coverageStart returns the beginning of the ledger.
func (l *inquiry) coverageStart() (time.Time, error) {
	if l.flow.Repository.Store == nil {
		return time.Time{}, errors.New("past usage needs the ledger of a store: add --store, or give the time of a list of pods together with --pods")
	}
	since := l.Ledger().Header.KnownSince()
	if since >= ledger.TimeOf(l.Now()) { // this observation began it
		return time.Time{}, fmt.Errorf("past usage is unknown: the first gpupool reconcile begins the ledger in the store %s", l.flow.Repository.Store)
	}
	return since.Time(), nil
}

// wholeSecond rounds up, so that a time from a message is not too early.
func wholeSecond(t time.Time) time.Time {
	return t.Add(time.Second - time.Millisecond).Truncate(time.Second)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

func (l *inquiry) podsUsed(d budget.Declaration) ([]PodUsed, error) {
	of, err := meter.New(d, l.at, meter.ClaimsOf(l.Ledger().All()), time.LoadLocation)
	if err != nil {
		return nil, err
	}
	var pods []PodUsed
	for r := range l.Ledger().All() {
		if used, counted := of.Pod(r); counted {
			pods = append(pods, PodUsed{Record: *r, PodUsage: used})
		}
	}
	slices.SortFunc(pods, func(a, b PodUsed) int {
		return cmp.Or(
			cmp.Compare(a.Record.Set.Namespace, b.Record.Set.Namespace), cmp.Compare(a.Record.Name, b.Record.Name),
			cmp.Compare(a.Record.UID, b.Record.UID),
		)
	})
	return pods, nil
}

// declaredBudgets lists the budgets that are declared for a cluster. The next run reports unreadable ones.
func declaredBudgets(ctx context.Context, f *Flow, clusterUID string) ([]budget.Declaration, error) {
	if f.Repository.Store == nil {
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
