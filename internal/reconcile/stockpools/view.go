package stockpools

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// State is a stock pool as Terraform sees it: what is declared, and how it is.
type State struct {
	Declaration stockpool.Declaration
	// Recorded says that the store holds a record of the pool, by which runs keep it as
	// declared.
	Recorded bool
	// Unfinished says that the store's record is of a creation that was cut short: the
	// next apply goes on with it.
	Unfinished bool
	// Destroyed says that the pool is gone for good.
	Destroyed bool
	Status    decide.Status
	// Pods are its pods, as far as a look showed them.
	Pods []decide.Standing
	// Decisions are what a run would do now.
	Decisions []stockpool.Decision
	// Replacement says how a change replaces the pods; empty if the cluster was not observed.
	Replacement string
	Warnings    []string
}

// stateOf is the state after an operation; waited says that it waited for the pods.
func (f *Flow) stateOf(ctx context.Context, p *pass, waited bool) State {
	if waited {
		p.plan.Status = f.told(ctx, p.declaration, p.plan.Status)
	}
	s := State{Declaration: p.declaration, Recorded: true, Status: p.plan.Status, Warnings: p.warned().Warnings}
	s.Declaration.DeploymentUID = p.plan.Status.DeploymentUID
	s.Warnings = append(s.Warnings, held(s.Status)...)
	if waited && !s.Status.Settled() {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d pods are ready (%s)%s. gpupool status shows how it goes on",
			s.Status.Available+s.Status.Allocated, s.Status.Desired, s.Status.Phase, whyNot(s.Status)))
	}
	return s
}

// held is what a status says of budgets and of a maximum that keep the pool from growing.
func held(s decide.Status) (texts []string) {
	for _, kind := range []string{decide.WithinBudget, decide.Stocked} {
		of := s.Of(kind)
		if of.Status == "" || of.Status == "True" || kind == decide.Stocked && of.Reason != decide.AtMaximum {
			continue
		}
		texts = append(texts, fmt.Sprintf("it is kept from growing: %s", of.Message))
	}
	return texts
}

// whyNot is what a status says of why pods are not ready.
func whyNot(s decide.Status) string {
	var texts []string
	for _, kind := range []string{decide.Scheduled, decide.Started, decide.RolledOut} {
		if c := s.Of(kind); c.Status == "False" {
			texts = append(texts, cmp.Or(c.Message, c.Reason))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, "; ")
}

// View looks at a stock pool for a refresh or a data source, without a lock. Where the
// store has a record of it, its declaration is the state's; else d is. The state's
// Deployment is the one that the pool owns now.
func (f *Flow) View(ctx context.Context, d stockpool.Declaration) (State, error) {
	state := State{Declaration: d}
	r, destroyed, err := f.known(ctx, d)
	if err != nil || destroyed {
		state.Destroyed = destroyed
		return state, err
	}
	if r.Exists() {
		state.Unfinished = r.Value.Phase == declaration.Creating
		state.Recorded = !state.Unfinished
		state.Declaration = r.Value.Declaration
	}
	if r.Value.Phase == declaration.Deleting {
		state.Warnings = append(state.Warnings, f.records().Unfinished(state.Declaration))
	}
	cluster, err := f.clusterOf(ctx, state.Declaration)
	if err != nil {
		return state, err
	}
	p, err := f.begin(ctx, r, state.Declaration.WithDefaults())
	if err != nil {
		return state, err
	}
	if err := f.look(ctx, cluster, p); err != nil {
		return state, err
	}
	state.Pods = decide.Standings(decide.Situation{Declaration: p.declaration, Journal: p.journal.Value, Observation: p.seen})
	state.Status, state.Decisions = f.told(ctx, p.declaration, p.plan.Status), p.plan.Decisions
	state.Replacement = drift.Replacement(p.seen.Deployment)
	state.Warnings = slices.Concat(state.Warnings, p.warned().Warnings, held(state.Status))
	if err := p.plan.Refused; err != nil {
		state.Warnings = append(state.Warnings, err.Error())
	}
	if uid := p.plan.Status.DeploymentUID; uid != "" {
		state.Declaration.DeploymentUID = uid
	}
	return state, nil
}

// known is the record of a pool, if any, or that it was destroyed. What was imported from
// a Deployment alone has no uid: its record is that of an apply which took exactly this
// Deployment over, and was cut short before the state had it.
func (f *Flow) known(ctx context.Context, d stockpool.Declaration) (r stored, destroyed bool, err error) {
	if d.UID != "" {
		r, tombstone, err := f.records().Known(ctx, d)
		return r, err == nil && tombstone.Exists(), err
	}
	r, err = f.records().Load(ctx, d.Key())
	if err != nil || !tookOver(r, d) {
		return stored{}, false, err
	}
	return r, false, nil
}

// tookOver says whether a record is of a pool that took over the Deployment which a
// declaration without a uid names.
func tookOver(r stored, d stockpool.Declaration) bool {
	return r.Exists() && d.DeploymentUID != "" && d.DeploymentUID == r.Value.Declaration.DeploymentUID
}

// Find finds a stock pool for an import, by NAMESPACE/NAME: in the store, or else a
// Deployment of that name in the cluster, which an apply would take over. Its declaration
// then has no uid.
func (f *Flow) Find(ctx context.Context, namespace, name string) (stockpool.Declaration, error) {
	r, err := f.records().Load(ctx, namespace+"/"+name)
	if err != nil || r.Exists() {
		return r.Value.Declaration, err
	}
	cluster, _, err := f.cluster(ctx)
	if err != nil {
		return stockpool.Declaration{}, err
	}
	seen, err := cluster.StockOf(ctx, namespace, name)
	if err != nil {
		return stockpool.Declaration{}, err
	}
	if seen.Deployment == nil {
		_, err := f.records().Find(ctx, namespace+"/"+name)
		return stockpool.Declaration{}, fmt.Errorf("%w; nor has the cluster a Deployment of that name", err)
	}
	return seen.Declaration()
}

// Refusal says why a declaration could not be carried out, as far as a plan can know: a
// namespace that is missing, a name that is taken, a budget that does not take its pods.
// Where that is only because the store has a record of the name, the error is
// *record.ExistsError: a replacement destroys what is recorded first.
func (f *Flow) Refusal(ctx context.Context, d stockpool.Declaration) error {
	cluster, uid, err := f.cluster(ctx)
	if err != nil {
		return err
	}
	if d.ClusterUID == "" {
		d.ClusterUID = uid
	}
	r, err := f.records().Load(ctx, d.Key())
	if err != nil {
		return err
	}
	old, taken := r.Value.Declaration, false
	if r.Exists() && d.UID == "" {
		taken = r.Value.Phase != declaration.Creating && !tookOver(r, d)
		d = d.Identified(old.Identity())
		d.DeploymentUID = old.DeploymentUID
	}
	p, err := f.begin(ctx, r, d)
	if err != nil {
		return err
	}
	if err := f.refuse(ctx, cluster, p); err != nil {
		return err
	}
	if !taken {
		return f.undeclared(ctx, p)
	}
	if live := p.seen.Deployment; live != nil && old.OnDestroy == stockpool.DestroyOrphan {
		return fmt.Errorf("the store %s has a record of the stock pool %s with on_destroy = \"orphan\": a replacement would destroy it, leave its "+
			"Deployment (uid %s), and then be refused since that has the name. Apply on_destroy = \"delete\" before you replace it, or give this stock "+
			"pool another name", f.Keeper.Store, d.Key(), live.UID)
	}
	return f.records().ErrTaken(r)
}

// undeclared says, by *record.UndeclaredError, that the store has no budget of the name that a
// pool has.
func (f *Flow) undeclared(ctx context.Context, p *pass) error {
	name := p.declaration.Budget
	if name == "" || slices.ContainsFunc(p.limits.budgets, func(of limit) bool { return of.Key == name && !of.unread }) {
		return nil
	}
	_, err := f.Keeper.NamedBudget(ctx, name)
	return err
}
