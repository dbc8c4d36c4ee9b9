package spotpools

import (
	"context"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// View observes a pool for a refresh, without a lock. The pools of a region share an
// observation for a minute. The state's declaration is that of the record, or d if there is
// none.
func (f *Flow) View(ctx context.Context, d spotpool.Declaration) (State, error) {
	state := State{Declaration: d}
	r, tombstone, err := f.records().Known(ctx, d)
	if err != nil {
		return state, err
	}
	if tombstone.Exists() {
		left, err := f.remainingInstances(ctx, d)
		if err != nil {
			return state, err
		}
		if state.Destroyed = len(left) == 0; state.Destroyed {
			return state, nil
		}
		destroyed := reason.Instant{Time: tombstone.Value.DestroyedAt.UTC()}
		state.Warnings = append(state.Warnings, reason.InstancesRemain(reason.Object(d.Object()), destroyed, left, reason.Word(d.UID)))
		if err := f.records().Foreign(r, d); err != nil {
			return state, err
		}
	}
	if r.Exists() {
		state.Recorded = true
		state.Declaration = r.Value.Declaration
	}
	state.Gate = f.gate(ctx, state.Declaration)
	if state.Deleting = r.Value.Phase == declaration.Deleting; state.Deleting {
		state.Gate = spotpool.Gate{Closed: true, Reason: f.records().DeletionUnfinished(d)}
		state.Warnings = append(state.Warnings, state.Gate.Reason)
	}
	err = f.observeState(ctx, &state)
	return state, err
}

// observeState adds to a pool's state its observation, and what would be done about it.
func (f *Flow) observeState(ctx context.Context, state *State) error {
	d := state.Declaration
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	t := target{declaration: d, journal: j}
	observed, err := f.observeOne(ctx, t)
	if err != nil {
		return err
	}
	if err := sameAccount(d, observed.account.ID); err != nil {
		return err
	}
	observation := observed.pool(t)
	nodes := f.observePoolNodes(ctx, d, j.Value, observation, sharedMaxAge, true)
	if err := nodes.refusal(); err != nil {
		return err
	}
	if !nodes.remark.IsZero() {
		state.Warnings = append(state.Warnings, nodes.remark)
	}
	if nodes.err != nil {
		state.Warnings = append(state.Warnings, unobservedWarning(d, nodes.err))
	}
	d.Currency = observed.account.Currency // which the next apply records
	s := situation(d, observation, nodes, j.Value, state.Gate, state.Hold)
	state.Observation, state.OtherNodes, state.Journal = s.Observation, s.OtherNodes, j.Value
	if state.Hold, err = f.holdOn(ctx, d); err != nil {
		return err
	}
	s.Hold = state.Hold
	state.Plan = decide.Decide(s)
	state.MarketDoubts = observed.markets.warnings(d.Region, d.InstanceChargeType == spotpool.Spot)
	return nil
}

// Find finds a pool for an import: by the store's record, or else by the tags of its
// instances. What is unknown then stays empty.
func (f *Flow) Find(ctx context.Context, region, name string) (spotpool.Declaration, error) {
	wanted := spotpool.Declaration{Region: region, Name: name}
	r, err := f.records().Load(ctx, wanted.Key())
	if err != nil {
		return wanted, err
	}
	if r.Exists() {
		return r.Value.Declaration, nil
	}
	account, err := f.Cloud.Account(ctx)
	if err != nil {
		return wanted, err
	}
	found, _, err := f.Cloud.ObserveNamed(ctx, region, name)
	if err != nil {
		return wanted, err
	}
	uids := map[string]int{}
	for _, i := range found {
		if i.PoolUID != "" {
			uids[i.PoolUID]++
		}
	}
	if len(uids) == 0 {
		return wanted, fmt.Errorf("there is no spot pool %s/%s: the store %s has no record of it, and no instance has the tag gpupool/pool = %q. "+
			"Check the region and the name; gpupool adopt adopts untagged instances into a pool", region, name, f.Repository.Store, name)
	}
	if len(uids) > 1 {
		return wanted, fmt.Errorf("%d pools named %s have instances in %s, and the store %s has a record of none: import with the store that has it", len(uids),
			name, region, f.Repository.Store)
	}
	return deriveDeclaration(wanted, account, found), nil
}

// deriveDeclaration derives what it can of a declaration from a pool's instances.
func deriveDeclaration(d spotpool.Declaration, account spotpool.Account, found []spotpool.Instance) spotpool.Declaration {
	d.AccountID, d.Currency = account.ID, account.Currency
	for _, i := range found {
		if i.PoolUID == "" || i.State.Ending() {
			continue
		}
		d.UID = i.PoolUID
		d.Minimum++
		d.VPCID = i.VPCID
		if i.ChargeType == spotpool.Spot || d.InstanceChargeType == "" {
			d.InstanceChargeType = i.ChargeType
		}
		offering := spotpool.Offering{AvailabilityZone: i.AvailabilityZone, InstanceType: i.InstanceType, SubnetID: i.SubnetID}
		if !slices.Contains(d.Offerings, offering) {
			d.Offerings = append(d.Offerings, offering)
		}
	}
	if d.UID == "" {
		d.UID = found[0].PoolUID
	}
	d.Maximum = max(1, d.Minimum)
	return d.WithDefaults()
}

// Markets returns the region's prices and stock, from a shared observation as in View.
func (f *Flow) Markets(ctx context.Context, region string) (spotpool.Markets, error) {
	// Prices are not secret, but only allowed accounts may read them.
	if _, err := f.Cloud.Account(ctx); err != nil {
		return spotpool.Markets{}, err
	}
	observed := f.observeMarkets(ctx, region)
	return observed.Markets, observed.err
}

// Recorded returns the store's record of a pool, if there is one.
func (f *Flow) Recorded(ctx context.Context, region, name string) (declaration.SpotPool, bool, error) {
	r, err := f.records().Load(ctx, spotpool.Declaration{Region: region, Name: name}.Key())
	return r.Value, r.Exists(), err
}
