package spotpools

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// Adopt adopts existing instances into a pool, all or none. It refuses them if they would
// exceed maximum, have another charge type, VPC or pool, or if a budget drains the pool. With
// dryRun it only checks.
func (f *Flow) Adopt(ctx context.Context, region, name string, ids []string, dryRun bool) error {
	d := spotpool.Declaration{Region: region, Name: name}
	ids = slices.Compact(slices.Sorted(slices.Values(ids)))
	adopt := func(ctx context.Context) error { return f.adopt(ctx, d.Key(), ids, dryRun) }
	if dryRun {
		return adopt(ctx)
	}
	defer f.report(ctx)
	return f.records().Locked(ctx, d, adopt)
}

func (f *Flow) adopt(ctx context.Context, key string, ids []string, dryRun bool) error {
	r, err := f.records().Load(ctx, key)
	if err != nil {
		return err
	}
	if !r.Exists() || r.Value.Phase != declaration.Active {
		return fmt.Errorf("the store %s has no active pool %s: create or import it first", f.Repository.Store, key)
	}
	d := r.Value.Declaration
	j, err := f.loadJournal(ctx, d)
	if err != nil {
		return err
	}
	observation, err := f.observePool(ctx, d, j.Value, nil)
	if err != nil {
		return err
	}
	if err := sameConnection(d, observation.Account()); err != nil {
		return err
	}
	candidates, _, err := f.Cloud.ObserveInstances(ctx, d.Region, ids)
	if err != nil {
		return err
	}
	plan := decide.Decide(situation(d, observation, nodeObservation{}, f.unreported(j.Value), f.gate(ctx, d), nil))
	if plan.Wanted != nil {
		return fmt.Errorf("nothing was adopted into %s: budget/%s is exceeded and drains it, so an adopted instance would be terminated. Adopt once the "+
			"budget is no longer exceeded, or set on_budget_exceeded to \"keep\" first", d.Object(), d.Budget)
	}
	candidates = slices.DeleteFunc(candidates, func(i spotpool.Instance) bool { return i.PoolUID == d.UID })
	ids = slices.DeleteFunc(ids, func(id string) bool {
		return slices.ContainsFunc(plan.Members, func(m decide.Member) bool { return m.ID == id })
	})
	if reasons := adoptionProblems(d, plan.Total, ids, candidates); len(reasons) > 0 {
		return fmt.Errorf("nothing was adopted into %s:\n- %s", d.Object(), strings.Join(reasons, "\n- "))
	}
	if dryRun || len(ids) == 0 {
		return nil
	}
	if err := f.Cloud.Tag(ctx, d.Region, ids, map[string]string{
		spotpool.TagUID: d.UID, spotpool.TagPool: d.Name, spotpool.TagConfiguration: spotpool.UnknownConfigurationTag(d.Configuration),
	}); err != nil {
		return fmt.Errorf("tagging instances for %s: %w", d.Object(), err)
	}
	value := plan.Journal.Adopt(candidates, observation.At)
	_, err = f.saveJournal(ctx, d, j, value)
	f.forgetRegion(d.Region)
	return err
}

// adoptionProblems returns why instances cannot be adopted.
func adoptionProblems(d spotpool.Declaration, total int, ids []string, found []spotpool.Instance) []string {
	byID := map[string]spotpool.Instance{}
	for _, i := range found {
		byID[i.ID] = i
	}
	var reasons []string
	for _, id := range ids {
		i, there := byID[id]
		switch {
		case !there:
			reasons = append(reasons, fmt.Sprintf("%s does not exist in %s", id, d.Region))
		case i.PoolUID != "" || i.PoolName != "":
			reasons = append(reasons, fmt.Sprintf("%s is tagged as an instance of the pool %q (uid %s)", id, i.PoolName, i.PoolUID))
		case i.ChargeType != d.InstanceChargeType:
			reasons = append(reasons, fmt.Sprintf("%s is %s, and the pool's instances are %s", id, i.ChargeType, d.InstanceChargeType))
		case i.VPCID != d.VPCID:
			reasons = append(reasons, fmt.Sprintf("%s is in %s, and the pool's instances are in %s", id, i.VPCID, d.VPCID))
		case i.State != spotpool.StateRunning:
			reasons = append(reasons, fmt.Sprintf("%s is %s, not RUNNING", id, i.State))
		}
	}
	if total+len(ids) > d.Maximum {
		reasons = append(reasons, fmt.Sprintf("total %d and %d more would exceed maximum %d: raise maximum first", total, len(ids), d.Maximum))
	}
	return reasons
}
