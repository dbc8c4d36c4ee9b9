package spotpools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// sharedMaxAge is how long the pools of a region share an observation: Terraform refreshes
// them one by one, a few at a time.
const sharedMaxAge = time.Minute

// regionObservation is one observation of everything of a region.
type regionObservation struct {
	at       time.Time // by Tencent Cloud's clock
	taken    time.Time // by the local clock, for the observation's age
	account  spotpool.Account
	byUID    map[string][]spotpool.Instance
	gone     map[string]bool // recorded IDs that are certainly gone
	absent   map[string]bool // IDs that were requested, and that Tencent Cloud does not know
	markets  marketObservation
	warnings reason.Reasons

	indexed sync.Once
	byName  map[string][]spotpool.Instance
}

// named returns the instances with a pool's name, of any UID.
func (v *regionObservation) named(name string) []spotpool.Instance {
	v.indexed.Do(func() {
		v.byName = map[string][]spotpool.Instance{}
		for _, instances := range v.byUID {
			for _, i := range instances {
				v.byName[i.PoolName] = append(v.byName[i.PoolName], i)
			}
		}
	})
	return v.byName[name]
}

// cloudObserver observes Tencent Cloud. The pools of one process share observations of regions.
type cloudObserver struct {
	*Ports

	mu      sync.Mutex
	regions map[string]*sharedRegion
	markets map[string]*sharedMarkets
}

type sharedRegion struct {
	mu          sync.Mutex
	observation *regionObservation
	single      int // how many pools were observed one by one
}

// observeRegion returns an observation of the region that is at most maxAge old. Concurrent
// callers wait for the same one.
func (o *cloudObserver) observeRegion(ctx context.Context, region string, maxAge time.Duration) (*regionObservation, error) {
	shared := o.shared(region)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.observation != nil && time.Since(shared.observation.taken) < maxAge {
		return shared.observation, nil
	}
	observed, err := o.observeRegionNow(ctx, region)
	if err != nil {
		return nil, err
	}
	shared.observation = observed
	return observed, nil
}

// single reports whether one more pool of a region is observed by itself. The first few are;
// after them the whole region is cheaper.
func (o *cloudObserver) single(region string) bool {
	shared := o.shared(region)
	shared.mu.Lock()
	defer shared.mu.Unlock()
	if shared.observation != nil || shared.single >= fewPools {
		return false
	}
	shared.single++
	return true
}

// observeOne returns an observation that contains one pool.
func (o *cloudObserver) observeOne(ctx context.Context, t target) (*regionObservation, error) {
	if o.single(t.declaration.Region) {
		return o.observeEach(ctx, t.declaration.Region, []target{t})
	}
	return o.observeRegion(ctx, t.declaration.Region, sharedMaxAge)
}

func (o *cloudObserver) shared(region string) *sharedRegion {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.regions == nil {
		o.regions = map[string]*sharedRegion{}
	}
	if o.regions[region] == nil {
		o.regions[region] = &sharedRegion{}
	}
	return o.regions[region]
}

// forgetRegion drops the observation of a region that was changed.
func (o *cloudObserver) forgetRegion(region string) {
	shared := o.shared(region)
	shared.mu.Lock()
	shared.observation = nil
	shared.mu.Unlock()
}

// observeRegionNow lists a region, and reads the recorded instances that are not listed: tags
// arrive late, and pages are not a snapshot.
func (o *cloudObserver) observeRegionNow(ctx context.Context, region string) (*regionObservation, error) {
	observed, err := o.newRegionObservation(ctx)
	if err != nil {
		return nil, err
	}
	instances, at, err := o.Cloud.ObserveRegion(ctx, region)
	if err != nil {
		return nil, fmt.Errorf("listing the instances of %s: %w", region, err)
	}
	observed.at = at
	listed := make(map[string]bool, len(instances))
	for _, i := range instances {
		listed[i.ID] = true
		observed.byUID[i.PoolUID] = append(observed.byUID[i.PoolUID], i)
	}
	owners, warnings, err := o.recordedIDs(ctx, region, listed)
	if err != nil {
		return nil, err
	}
	observed.warnings = warnings
	if err := o.addUnlisted(ctx, region, observed, owners); err != nil {
		return nil, err
	}
	observed.markets = o.observeMarkets(ctx, region)
	return observed, nil
}

func (o *cloudObserver) newRegionObservation(ctx context.Context) (*regionObservation, error) {
	account, err := o.Cloud.Account(ctx)
	if err != nil {
		return nil, err
	}
	return &regionObservation{
		taken: time.Now(), account: account, byUID: map[string][]spotpool.Instance{}, gone: map[string]bool{}, absent: map[string]bool{},
	}, nil
}

// fewPools is how many pools of a region are observed one by one. A pool takes one call; a
// region takes one for every hundred instances of its pools.
const fewPools = 4

// observeEach observes a few pools of a region, one by one.
func (o *cloudObserver) observeEach(ctx context.Context, region string, targets []target) (*regionObservation, error) {
	observed, err := o.newRegionObservation(ctx)
	if err != nil {
		return nil, err
	}
	observed.markets = o.observeMarkets(ctx, region)
	for _, t := range targets {
		o, err := o.observePool(ctx, t.declaration, t.journal.Value, nil)
		if err != nil {
			return nil, err
		}
		observed.at = o.At
		observed.byUID[t.declaration.UID] = o.Instances
		seen := map[string]bool{}
		for _, i := range o.Instances {
			seen[i.ID] = true
		}
		for _, k := range t.journal.Value.Known {
			observed.gone[k.InstanceID] = k.Seen && !seen[k.InstanceID]
		}
		for _, id := range o.Absent {
			observed.absent[id] = true
		}
	}
	return observed, nil
}

// observeTargets observes the given pools of a region in as few calls as possible.
func (o *cloudObserver) observeTargets(ctx context.Context, region string, targets []target) (*regionObservation, error) {
	if len(targets) <= fewPools {
		return o.observeEach(ctx, region, targets)
	}
	return o.observeRegion(ctx, region, 0)
}

// owner is the pool in whose journal an instance is recorded.
type owner struct {
	uid  string
	seen bool // one that was never listed may still appear
}

// recordedIDs returns the instances that the region's journals record and the listing lacks,
// each with its pool.
func (o *cloudObserver) recordedIDs(ctx context.Context, region string, listed map[string]bool) (map[string]owner, reason.Reasons, error) {
	docs, err := o.Repository.Store.List(ctx, store.Journals)
	if err != nil {
		return nil, nil, err
	}
	owners := map[string]owner{}
	var warnings reason.Reasons
	for _, doc := range docs {
		if !strings.HasPrefix(doc.Key.Name, region+"/") {
			continue
		}
		j, err := record.DecodeListed[journal.Journal](ctx, o.Repository.Store, doc)
		if err != nil {
			warnings = append(warnings, reason.Explain(err))
			continue
		}
		uid := doc.Key.Name[strings.LastIndexByte(doc.Key.Name, '/')+1:]
		for _, k := range j.Known {
			if !listed[k.InstanceID] {
				owners[k.InstanceID] = owner{uid: uid, seen: k.Seen}
			}
		}
		for _, id := range j.Unconfirmed() {
			if _, known := owners[id]; !known && !listed[id] {
				owners[id] = owner{uid: uid, seen: true}
			}
		}
	}
	return owners, warnings, nil
}

func (o *cloudObserver) addUnlisted(ctx context.Context, region string, observed *regionObservation, owners map[string]owner) error {
	if len(owners) == 0 {
		return nil
	}
	ids := make([]string, 0, len(owners))
	for id := range owners {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	found, _, err := o.Cloud.ObserveInstances(ctx, region, ids)
	if err != nil {
		return fmt.Errorf("reading recorded instances of %s: %w", region, err)
	}
	for _, i := range found {
		o := owners[i.ID]
		delete(owners, i.ID)
		if i.PoolUID == "" || i.PoolUID == o.uid { // without tags, the pool decides whether it is its own
			observed.byUID[o.uid] = append(observed.byUID[o.uid], i)
		}
	}
	for id, o := range owners {
		observed.gone[id], observed.absent[id] = o.seen, true
	}
	return nil
}

// pool returns the part of an observation about one pool.
func (v *regionObservation) pool(t target) spotpool.Observation {
	d := t.declaration
	o := spotpool.Observation{At: v.at, Region: d.Region, AccountID: v.account.ID, Currency: v.account.Currency, Instances: slices.Clone(v.byUID[d.UID])}
	for _, id := range t.journal.Value.Unconfirmed() {
		if v.absent[id] {
			o.Absent = append(o.Absent, id)
		}
	}
	return v.markets.add(o, d)
}

// observePool observes one pool and its markets. IDs that are gone are not read again.
func (o *cloudObserver) observePool(ctx context.Context, d spotpool.Declaration, j journal.Journal, gone map[string]bool) (spotpool.Observation, error) {
	ids := slices.DeleteFunc(j.IDs(), func(id string) bool { return gone[id] })
	instances, at, err := o.Cloud.ObservePool(ctx, d.Region, d.UID, ids)
	if err != nil {
		return spotpool.Observation{}, fmt.Errorf("observing the pool %s: %w", d.Key(), err)
	}
	account, err := o.Cloud.Account(ctx)
	if err != nil {
		return spotpool.Observation{}, err
	}
	seen := spotpool.Observation{At: at, Region: d.Region, AccountID: account.ID, Currency: account.Currency, Instances: instances}
	for _, id := range j.Unconfirmed() {
		if !slices.ContainsFunc(instances, func(i spotpool.Instance) bool { return i.ID == id }) {
			seen.Absent = append(seen.Absent, id)
		}
	}
	return o.observeMarkets(ctx, d.Region).add(seen, d), nil
}
