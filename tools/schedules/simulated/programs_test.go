package simulated_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/schedule"
	"github.com/gpupool/terraform-provider-gpupool/tools/schedules/stage"
)

// programs are the flows that the provider and gpupool reconcile run, with a store in
// memory and what Terraform's state has of the pool.
type programs struct {
	mu    sync.Mutex
	store store.Store
	state spotpool.Declaration // without a uid if the state has no pool
}

func newPrograms() *programs {
	p := &programs{}
	_ = p.LoseStore()
	return p
}

func (p *programs) LoseStore() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.store = draft.Empty(store.Location{Backend: store.Directory, Path: "memory"})
	return nil
}

func (p *programs) Store() (store.Store, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.store, nil
}

func (p *programs) State() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.state.UID
}

type process struct {
	*faults.Process

	programs *programs
	cloud    *tencent.Client
}

func (p *programs) Run(ctx context.Context, c stage.Command, of *stage.Process) (stage.Ending, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	listener := listen()
	server := &http.Server{Handler: of}
	defer server.Close()
	go func() { _ = server.Serve(listener) }() // ends with Close
	client, err := tencent.New(ctx, tencent.Config{
		Region: stage.Region, Endpoint: "http://" + listener.address, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
	})
	if err != nil {
		return stage.Ending{}, err
	}
	r := &process{Process: &faults.Process{Before: at(of)}, programs: p, cloud: client}
	of.Begin(true, func(victim schedule.Victim) error {
		die := func() { r.Kill(); cancel() }
		if victim == schedule.Core {
			time.AfterFunc(stage.Orphaned, die)
		} else {
			die()
		}
		return nil
	})
	e := stage.Ending{}
	var state *spotpool.Declaration
	switch c.Verb {
	case stage.Reconcile:
		options := reconcile.RunOptions{Wait: c.Wait, WaitTimeout: stage.ReconcileTimeout}
		if c.Beside {
			options.RunLockTimeout = stage.RunLockTimeout
		}
		e.Report, err = r.world("reconcile").Runner().Run(ctx, options)
	default:
		state, e.Text, err = r.terraform(ctx, c)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case of.Killed() != "": // nothing of it came to be known
		e.Code = -1
		return e, nil
	case err != nil:
		e.Code, e.Text = 1, e.Text+"\n"+err.Error()
	}
	if state != nil {
		p.state = *state
	}
	return e, nil
}

func (r *process) world(actor string) reconcile.World {
	s, _ := r.programs.Store()
	return reconciletest.Possess(reconcile.World{Cloud: r.cloud, Store: s, Actor: actor, LockTimeout: time.Hour}, r.Process)
}

func (r *process) flow() *spotpools.Flow { return r.world("terraform").SpotPools() }

// terraform does what Terraform and its provider do, and returns the state to save, if it
// is to be saved, and the warnings.
func (r *process) terraform(ctx context.Context, c stage.Command) (saved *spotpool.Declaration, text string, err error) {
	r.programs.mu.Lock()
	is := r.programs.state
	r.programs.mu.Unlock()
	if c.Verb == stage.Import {
		is, err = r.flow().Find(ctx, stage.Region, stage.Pool.Name)
		if err != nil {
			return nil, "", err
		}
	}
	if is.UID != "" && !c.Stale {
		view, err := r.flow().View(ctx, is)
		if err != nil {
			return nil, "", err
		}
		if is = view.Declaration; view.Destroyed {
			is = spotpool.Declaration{}
		}
		saved = &is
	}
	var after spotpools.State
	switch {
	case c.Verb == stage.Destroy && is.UID != "":
		if _, err = r.flow().Delete(ctx, is, stage.DestroyTimeout); err == nil {
			saved = &spotpool.Declaration{}
		}
		return saved, "", err
	case c.Verb == stage.Apply && is.UID != "":
		after, err = r.flow().Update(ctx, identified(declaration(c.Terms), is), stage.ApplyTimeout)
	case c.Verb == stage.Apply:
		after, err = r.flow().Create(ctx, declaration(c.Terms), stage.ApplyTimeout)
	default:
		return saved, "", nil
	}
	if after.Recorded && (err == nil || is.UID != "") {
		saved = &after.Declaration
	}
	return saved, strings.Join(after.AllWarnings().Texts(), "\n"), err
}

func declaration(t schedule.Terms) spotpool.Declaration {
	d := spotpool.Declaration{
		Name: stage.Pool.Name, Region: stage.Region, Minimum: t.Minimum, Maximum: t.Maximum,
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: t.ImageID(), SecurityGroupIDs: []string{"sg-a1b2c3d4"}, KeyIDs: []string{"skey-a1b2c3d4"},
			UserData: "#!/bin/sh\necho ready\n",
		},
		Cooldown: spotpool.Duration(time.Minute), LaunchTimeout: spotpool.Duration(stage.Pool.LaunchTimeout),
		Refresh: spotpool.Refresh{Strategy: spotpool.RefreshStrategy(t.Strategy), MaxSurge: t.Surge, MaxUnavailable: t.Unavailable},
	}
	for _, zone := range stage.Zones {
		d.Offerings = append(d.Offerings, spotpool.Offering{AvailabilityZone: zone, InstanceType: stage.GPUType, SubnetID: "subnet-a1b2c3d4"})
	}
	return d.WithDefaults()
}

// at is a hook before each call of a process. All earlier calls took effect, and the process
// may be killed here. Calls of Tencent Cloud reach their points on their own.
func at(of *stage.Process) func(faults.Call) {
	var mu sync.Mutex
	last := ""
	return func(c faults.Call) {
		mu.Lock()
		before := last
		if last = ""; strings.HasPrefix(c.Name, "Write ") || strings.HasPrefix(c.Name, "Delete ") {
			last = c.Name
		}
		next := last
		mu.Unlock()
		if before != "" {
			of.At(before, true)
		}
		if next != "" {
			of.Pause()
			of.At(next, false)
		}
	}
}

func identified(d, is spotpool.Declaration) spotpool.Declaration {
	d.UID, d.AccountID, d.Generation = is.UID, is.AccountID, is.Generation
	return d
}
