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
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Question asks what a budget, or any selector, has used.
type Question struct {
	// Budget names a declared one. Where it is empty, Declaration says what is
	// selected, declared or not; without GPUHours there is no limit.
	Budget      string
	Declaration budget.Declaration
	// Over takes the place of what the budget declares.
	Over Over
	// At is as of when; zero is now.
	At time.Time
}

// Over is another window or limit than what is declared; what is empty leaves it
// as it is.
type Over struct {
	Window   string
	Period   budget.Period
	TimeZone string // of Period; where it is empty, the one that the budget has
	GPUHours string
	// BreakdownLabels are by which a replay is broken down.
	BreakdownLabels []string
}

// LiveUsage is the use of a budget, or of any selector, this very moment, or at
// one that is past: the ledger and a fresh observation of the cluster, merged in memory.
type LiveUsage struct {
	Declaration budget.Declaration
	At          time.Time // the cluster's clock, or what was asked for
	Usage       budget.Usage
	// ExceededSince is nil while used is below the limit, and without a limit.
	ExceededSince *time.Time
	Overlaps      []string       // other budgets that count some of the same pods
	Pods          []PodUsed      // by namespace and name
	Grants        []budget.Grant // in force, and a part of the limit
	Warnings      []string
}

// PodUsed is one pod that held GPUs in the window.
type PodUsed struct {
	Record ledger.Record
	meter.PodUsage
}

// Ask answers a question. Nothing is written. Without a store there is no ledger
// either, and pods that are gone are not known.
func (f *Flow) Ask(ctx context.Context, q Question) (LiveUsage, error) {
	l, err := f.inquire(ctx, q)
	if err != nil {
		return LiveUsage{Declaration: q.Declaration}, err
	}
	d := l.declaration
	if changed := l.declared; q.Over.GPUHours == "" && (d.Window != changed.Window || d.Period != changed.Period || d.TimeZone != changed.TimeZone) {
		d.GPUHours = "" // which is of another window
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
		Warnings: append(l.Warnings, lostTexts(result.Lost)...),
	}
	if d.GPUHours == "" {
		live.Usage.Limit, live.Usage.ProjectedExhaustion, live.ExceededSince = 0, nil, nil
	}
	if result.Forgotten {
		live.Warnings = append(live.Warnings, fmt.Sprintf("what ended before %s is forgotten, since no budget's window reached back to it then: usage "+
			"may be higher", result.KnownSince.Format(time.RFC3339)))
	}
	live.Pods, err = l.podsUsed(d)
	return live, err
}

// grants are the grants that are a part of the limit that is asked about; none where
// that is another than the declared one.
func (l *inquiry) grants(ctx context.Context, d budget.Declaration, q Question) (budget.Grants, error) {
	if q.Budget == "" || q.Over.GPUHours != "" || d.GPUHours == "" {
		return budget.Grants{}, nil
	}
	all, err := record.Grants(l.flow.Keeper).Of(ctx, d.UID)
	list := all.InForce(l.at)
	if !q.At.IsZero() {
		list = slices.DeleteFunc(list, func(g budget.Grant) bool { return g.From.After(l.at) })
	}
	return budget.Grants{List: list}, err
}

func lostTexts(lost []string) []string {
	var texts []string
	for _, reason := range lost {
		texts = append(texts, "part of the ledger is lost, so usage may be higher: "+reason)
	}
	return texts
}

// inquiry is what a question is answered by.
type inquiry struct {
	*accounting.Books
	flow        *Flow
	declared    budget.Declaration
	declaration budget.Declaration   // with what is asked over it
	others      []budget.Declaration // of the cluster
	at          time.Time
}

// inquire finds what a question is about, and observes its cluster.
func (f *Flow) inquire(ctx context.Context, q Question) (*inquiry, error) {
	declared, c, uid, err := q.subject(ctx, f)
	if err != nil {
		return nil, err
	}
	all, err := declaredIn(ctx, f, uid)
	if err != nil {
		return nil, err
	}
	l := &inquiry{flow: f, declared: declared, declaration: q.Over.on(declared)}
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

// subject is what a question is about, and its cluster.
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

// on is a declaration with these in the place of its own.
func (o Over) on(d budget.Declaration) budget.Declaration {
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

// covers says why nothing is known of the moment that is asked for.
func (l *inquiry) covers() error {
	if l.at.After(l.Now()) {
		return fmt.Errorf("%s is still to come: the cluster's clock reads %s", stamp(l.at), stamp(l.Now()))
	}
	since, err := l.coveredSince()
	if err == nil && l.at.Before(since) {
		err = fmt.Errorf("nothing is known of %s: the ledger in the store %s holds what was used from %s on", stamp(l.at), l.flow.Keeper.Store,
			stamp(wholeSecond(since)))
	}
	return err
}

// coveredSince is from when on the ledger has what was used.
func (l *inquiry) coveredSince() (time.Time, error) {
	if l.flow.Keeper.Store == nil {
		return time.Time{}, errors.New("what is past is known from a ledger alone, and there is no store and so no ledger: name the store by --store, or " +
			"the moment of a list of pods beside --pods")
	}
	since := l.Ledger().Header.KnownSince()
	if since >= ledger.TimeOf(l.Now()) { // it was begun by this observation
		return time.Time{}, fmt.Errorf("nothing is known of the past: the ledger in the store %s is begun by the first gpupool reconcile", l.flow.Keeper.Store)
	}
	return since.Time(), nil
}

// wholeSecond rounds up, so that what is read off a message is not too early.
func wholeSecond(t time.Time) time.Time {
	return t.Add(time.Second - time.Millisecond).Truncate(time.Second)
}

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// podsUsed measures each pod.
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

// declaredIn lists the budgets that are declared for a cluster. What can't be
// read is left to the next run to tell of.
func declaredIn(ctx context.Context, f *Flow, clusterUID string) ([]budget.Declaration, error) {
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
