package reconciletest

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/spotpools"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// The place of test pools, and how long a test waits for them.
const (
	Region   = "ap-singapore"
	GPUType  = "GN7.2XLARGE32"
	ZoneA    = "ap-singapore-2"
	ZoneB    = "ap-singapore-3"
	LongWait = 2 * time.Minute // only a slow machine gets there
)

// World is a local CVM and a store of its own, with foreign instances in it.
type World struct {
	t       testing.TB
	Sim     *cvmsimtest.Sim
	Dir     string
	foreign []string
	// Cluster is the one that machines join; nil where they join none.
	Cluster *Cluster
}

// NewWorld starts a local CVM that has room in two zones.
func NewWorld(t testing.TB, opts ...func(*cvmsim.Options)) *World {
	t.Helper()
	lifelike := func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = time.Second, time.Second }
	w := &World{t: t, Sim: cvmsimtest.Start(t, append([]func(*cvmsim.Options){lifelike}, opts...)...), Dir: t.TempDir() + "/store"}
	w.fastForward()
	for _, zone := range []string{ZoneA, ZoneB} {
		if err := w.Sim.Server.SetStock(cvmsim.StockRequest{
			AvailabilityZone: zone, InstanceType: GPUType, Stock: new(int64(100)), VCPUQuota: new(int64(1000)),
		}); err != nil {
			t.Fatal(err)
		}
	}
	for _, seed := range []cvmsim.SeedRequest{
		{AvailabilityZone: ZoneA, InstanceType: GPUType},
		{AvailabilityZone: ZoneA, InstanceType: GPUType, Pool: "other", UID: "0123456789abcdef0123456789abcdef", Seq: "1"},
	} {
		ids, err := w.Sim.Server.Seed(seed)
		if err != nil {
			t.Fatal(err)
		}
		w.foreign = append(w.foreign, ids...)
	}
	return w
}

// fastForward lets a hundred seconds of the simulated clock pass in a real one, so that tests
// do not wait for it.
func (w *World) fastForward() {
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
				_, _ = w.Sim.Server.StepClock(time.Second)
			}
		}
	}()
	w.t.Cleanup(func() { cancel(); <-stopped })
}

// Client returns a new process's client of the local CVM.
func (w *World) Client(attemptTimeout time.Duration, attempts int) *tencent.Client {
	w.t.Helper()
	client, err := tencent.New(context.Background(), tencent.Config{
		Region: Region, Endpoint: w.Sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
		AttemptTimeout: attemptTimeout, MaxAttempts: attempts,
		BackoffBase: time.Millisecond, BackoffCap: 2 * time.Millisecond,
		RateLimits: map[string]float64{
			"RunInstances": 0, "DescribeInstances": 0, "TerminateInstances": 0, "TagResources": 0, "UnTagResources": 0,
			"DescribeZoneInstanceConfigInfos": 0, "DescribeAccountQuota": 0, "GetCallerIdentity": 0,
		},
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return client
}

// Store opens the store, as each process does.
func (w *World) Store() store.Store {
	w.t.Helper()
	s, err := directory.Open(w.Dir, directory.Options{Create: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// Process is the world of a new process; nil is one that meets no fault.
func (w *World) Process(by *faults.Process) reconcile.World {
	w.t.Helper()
	p := reconcile.World{
		Cloud: w.Client(30*time.Second, 6), Store: w.Store(), Actor: "test",
		LockTimeout: 5 * time.Second, PollInterval: 5 * time.Millisecond,
	}
	if w.Cluster != nil {
		p.Cloud, p.Cluster = careful{p.Cloud, w.Cluster}, w.Cluster.Connect
	}
	if by != nil {
		return Possess(p, by)
	}
	return p
}

// Runner is a new process that runs; nil is one that meets no fault.
func (w *World) Runner(by *faults.Process) *reconcile.Runner {
	w.t.Helper()
	return w.Process(by).Runner()
}

// Pools returns a new process that only manages pools: no run is under way in it.
func (w *World) Pools(by *faults.Process) *spotpools.Flow {
	w.t.Helper()
	return w.Process(by).SpotPools()
}

// HastyProcess soon gives up on a cloud that doesn't answer.
func (w *World) HastyProcess() reconcile.World {
	w.t.Helper()
	p := w.Process(nil)
	p.Cloud = w.Client(300*time.Millisecond, 2)
	return p
}

// Pool is a declaration as Terraform hands it in at create.
func Pool(minimum, maximum int) spotpool.Declaration {
	return spotpool.Declaration{
		Name: "train", Region: Region, Minimum: minimum, Maximum: maximum,
		Offerings: []spotpool.Offering{
			{AvailabilityZone: ZoneA, InstanceType: GPUType, SubnetID: "subnet-a1b2c3d4"},
			{AvailabilityZone: ZoneB, InstanceType: GPUType, SubnetID: "subnet-e5f6a7b8"},
		},
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, KeyIDs: []string{"skey-a1b2c3d4"},
			UserData: "#!/bin/sh\necho hello\n",
		},
		Cooldown: spotpool.Duration(time.Second),
	}.WithDefaults()
}

// MustCreate creates the pool without any fault.
func (w *World) MustCreate(minimum, maximum int) spotpool.Declaration {
	w.t.Helper()
	return w.MustCreateAs(Pool(minimum, maximum))
}

// MustCreateAs creates a pool without any fault.
func (w *World) MustCreateAs(d spotpool.Declaration) spotpool.Declaration {
	w.t.Helper()
	minimum := d.Minimum
	state, err := w.Pools(nil).Create(context.Background(), d, LongWait)
	if err != nil {
		w.t.Fatalf("creating the pool: %v", err)
	}
	if state.Plan.Capacity != minimum {
		w.t.Fatalf("the new pool has capacity %d of %d: %v", state.Plan.Capacity, minimum, state.Warnings)
	}
	return state.Declaration
}

// Own lists the pool's instances in the local CVM.
func (w *World) Own() []cvmsim.Instance {
	var own []cvmsim.Instance
	for _, i := range w.Sim.Server.Instances() {
		if i.Pool == "train" && i.State != "TERMINATING" && i.State != "LAUNCH_FAILED" {
			own = append(own, i)
		}
	}
	return own
}

// Launched counts the instances of the pool that were ever launched.
func (w *World) Launched() int {
	ids := map[string]bool{}
	for _, c := range w.Sim.Server.Calls() {
		if c.Action == "RunInstances" && c.TookEffect {
			for _, id := range c.InstanceIDs {
				ids[id] = true
			}
		}
	}
	return len(ids)
}

// Verify checks what must hold in any case. The pool has as many instances as desired, each
// launched under another sequence and in sync. Foreign instances are unchanged.
func (w *World) Verify(wanted int) {
	w.t.Helper()
	own := w.Own()
	if len(own) != wanted {
		w.t.Errorf("the local CVM has %d instances of the pool, want %d: %s", len(own), wanted, Describe(own))
	}
	uids := map[string]bool{}
	for _, i := range own {
		uids[i.UID] = true
	}
	if len(uids) > 1 {
		w.t.Errorf("the pool's instances have %d uids: %s", len(uids), Describe(own))
	}
	w.VerifyForeign()
}

// VerifyForeign checks that foreign instances are unchanged.
func (w *World) VerifyForeign() {
	w.t.Helper()
	there := map[string]string{}
	for _, i := range w.Sim.Server.Instances() {
		there[i.InstanceID] = i.State
	}
	for _, id := range w.foreign {
		if there[id] != "RUNNING" {
			w.t.Errorf("the foreign instance %s is %q", id, there[id])
		}
	}
	for _, c := range w.Sim.Server.Calls() {
		if c.Action != "TerminateInstances" && c.Action != "UnTagResources" && c.Action != "TagResources" {
			continue
		}
		for _, id := range c.InstanceIDs {
			if id == w.foreign[0] || id == w.foreign[1] {
				w.t.Errorf("%s was asked for the foreign instance %s", c.Action, id)
			}
		}
	}
}

// CleanRuns runs reconcile, without any fault, until it has nothing to do.
func (w *World) CleanRuns() reconcile.Report {
	w.t.Helper()
	var report reconcile.Report
	for range 10 {
		var err error
		report, err = w.Runner(nil).Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: LongWait})
		if err != nil {
			w.t.Fatalf("a clean run: %v", err)
		}
		for _, p := range report.SpotPools {
			if p.Outcome == outcome.Failed {
				w.t.Fatalf("a clean run failed for %s: %s", p.Name, p.Error.Message)
			}
		}
		if len(report.Decisions) == 0 {
			return report
		}
	}
	w.t.Fatalf("ten clean runs in a row found something to do: %+v", report.Decisions)
	return report
}

// Describe lists instances for people.
func Describe(list []cvmsim.Instance) string {
	var b strings.Builder
	for _, i := range list {
		fmt.Fprintf(&b, "\n  %s %s seq %s uid %s in %s", i.InstanceID, i.State, i.Seq, i.UID, i.AvailabilityZone)
	}
	return b.String()
}

// Reclaim interrupts so many of the pool's instances.
func (w *World) Reclaim(n int) {
	w.t.Helper()
	if _, err := w.Sim.Server.Reclaim(cvmsim.ReclaimRequest{Pool: "train", Count: n}); err != nil {
		w.t.Fatal(err)
	}
}

// Step advances the simulated clock.
func (w *World) Step(d time.Duration) {
	w.t.Helper()
	if _, err := w.Sim.Server.StepClock(d); err != nil {
		w.t.Fatal(err)
	}
}
