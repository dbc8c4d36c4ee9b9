package reconcile_test

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
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

const (
	region   = "ap-singapore"
	gpuType  = "GN7.2XLARGE32"
	zoneA    = "ap-singapore-2"
	zoneB    = "ap-singapore-3"
	longWait = 2 * time.Minute // only a slow machine gets there
)

// world is a local CVM and a store of its own, with machines in it that are
// nobody's business.
type world struct {
	t       *testing.T
	sim     *cvmsimtest.Sim
	dir     string
	foreign []string
}

func newWorld(t *testing.T, opts ...func(*cvmsim.Options)) *world {
	t.Helper()
	lifelike := func(o *cvmsim.Options) { o.LaunchDelay, o.TerminateDelay = time.Second, time.Second }
	w := &world{t: t, sim: cvmsimtest.Start(t, append([]func(*cvmsim.Options){lifelike}, opts...)...), dir: t.TempDir() + "/store"}
	w.fastForward()
	for _, zone := range []string{zoneA, zoneB} {
		if err := w.sim.Server.SetStock(cvmsim.StockRequest{AvailabilityZone: zone, InstanceType: gpuType, Stock: ptr(int64(100)), VCPUQuota: ptr(int64(1000))}); err != nil {
			t.Fatal(err)
		}
	}
	for _, seed := range []cvmsim.SeedRequest{
		{AvailabilityZone: zoneA, InstanceType: gpuType},
		{AvailabilityZone: zoneA, InstanceType: gpuType, Pool: "other", UID: "0123456789abcdef0123456789abcdef", Seq: "1"},
	} {
		ids, err := w.sim.Server.Seed(seed)
		if err != nil {
			t.Fatal(err)
		}
		w.foreign = append(w.foreign, ids...)
	}
	return w
}

// fastForward lets a hundred seconds of the cloud pass in one of ours, so that
// what waits for the cloud's clock doesn't hold the test up.
func (w *world) fastForward() {
	ctx, cancel := context.WithCancel(context.Background())
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(10 * time.Millisecond):
				_, _ = w.sim.Server.StepClock(time.Second)
			}
		}
	}()
	w.t.Cleanup(func() { cancel(); <-stopped })
}

func ptr[T any](v T) *T { return &v }

// client is a new process's way to the cloud.
func (w *world) client(attemptTimeout time.Duration, attempts int) *tencent.Client {
	w.t.Helper()
	client, err := tencent.New(context.Background(), tencent.Config{
		Region: region, Endpoint: w.sim.URL, SecretID: cvmsim.DemoSecretID, SecretKey: cvmsim.DemoSecretKey,
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

func (w *world) store() store.Store {
	w.t.Helper()
	s, err := directory.Open(w.dir, directory.Options{Create: true})
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

// engine is a new process; a nil mortal is one that nobody kills.
func (w *world) engine(m *mortal) *reconcile.Engine {
	w.t.Helper()
	e := &reconcile.Engine{
		Cloud: w.client(30*time.Second, 6), Store: w.store(), Actor: "test",
		LockTimeout: 5 * time.Second, PollInterval: 5 * time.Millisecond,
	}
	if m != nil {
		e.Cloud, e.Store = m.cloud(e.Cloud), m.store(e.Store)
	}
	return e
}

// hastyEngine is a process that soon gives up on a cloud that doesn't answer.
func (w *world) hastyEngine() *reconcile.Engine {
	w.t.Helper()
	e := w.engine(nil)
	e.Cloud = w.client(300*time.Millisecond, 2)
	return e
}

// pool is a declaration as Terraform hands it in at create.
func pool(minimum, maximum int) spotpool.Declaration {
	return spotpool.Declaration{
		Name: "train", Region: region, Minimum: minimum, Maximum: maximum,
		Offerings: []spotpool.Offering{
			{AvailabilityZone: zoneA, InstanceType: gpuType, SubnetID: "subnet-a1b2c3d4"},
			{AvailabilityZone: zoneB, InstanceType: gpuType, SubnetID: "subnet-e5f6a7b8"},
		},
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, KeyIDs: []string{"skey-a1b2c3d4"},
			UserData: "#!/bin/sh\necho hello\n",
		},
		Cooldown: spotpool.Duration(time.Second),
	}.WithDefaults()
}

// mustCreate creates the pool without any fault.
func (w *world) mustCreate(minimum, maximum int) spotpool.Declaration {
	w.t.Helper()
	state, err := w.engine(nil).Pools().Create(context.Background(), pool(minimum, maximum), longWait)
	if err != nil {
		w.t.Fatalf("creating the pool: %v", err)
	}
	if state.Plan.Capacity != minimum {
		w.t.Fatalf("the new pool has capacity %d of %d: %v", state.Plan.Capacity, minimum, state.Warnings)
	}
	return state.Declaration
}

// own lists the pool's instances as the cloud has them.
func (w *world) own() []cvmsim.Instance {
	var own []cvmsim.Instance
	for _, i := range w.sim.Server.Instances() {
		if i.Pool == "train" && i.State != "TERMINATING" && i.State != "LAUNCH_FAILED" {
			own = append(own, i)
		}
	}
	return own
}

// launched counts the instances of the pool that were ever launched.
func (w *world) launched() int {
	ids := map[string]bool{}
	for _, c := range w.sim.Server.Calls() {
		if c.Action == "RunInstances" && c.TookEffect {
			for _, id := range c.InstanceIDs {
				ids[id] = true
			}
		}
	}
	return len(ids)
}

// verify checks what must hold whatever happened: the pool has as many instances
// as wanted, each launched under another sequence and zone as declared, and
// nobody else's were touched.
func (w *world) verify(wanted int) {
	w.t.Helper()
	own := w.own()
	if len(own) != wanted {
		w.t.Errorf("the cloud has %d instances of the pool, want %d: %s", len(own), wanted, describe(own))
	}
	uids := map[string]bool{}
	for _, i := range own {
		uids[i.UID] = true
	}
	if len(uids) > 1 {
		w.t.Errorf("the pool's instances have %d uids: %s", len(uids), describe(own))
	}
	w.verifyForeign()
}

func (w *world) verifyForeign() {
	w.t.Helper()
	there := map[string]string{}
	for _, i := range w.sim.Server.Instances() {
		there[i.InstanceID] = i.State
	}
	for _, id := range w.foreign {
		if there[id] != "RUNNING" {
			w.t.Errorf("the foreign instance %s is %q", id, there[id])
		}
	}
	for _, c := range w.sim.Server.Calls() {
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

// cleanRuns runs reconcile, without any fault, until it has nothing to do.
func (w *world) cleanRuns() reconcile.Report {
	w.t.Helper()
	var report reconcile.Report
	for range 10 {
		var err error
		report, err = w.engine(nil).Run(context.Background(), reconcile.RunOptions{Wait: true, WaitTimeout: longWait})
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

func describe(list []cvmsim.Instance) string {
	var b strings.Builder
	for _, i := range list {
		fmt.Fprintf(&b, "\n  %s %s seq %s uid %s in %s", i.InstanceID, i.State, i.Seq, i.UID, i.AvailabilityZone)
	}
	return b.String()
}
