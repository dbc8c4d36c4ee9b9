package conservation_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/draft"
)

// world is one cloud, one cluster and one store, all in memory, with what is declared in
// the store. It knows what is true, and logs what happened and what gpupool did.
type world struct {
	store, other store.Store // other is that of another checkout
	cloud        *cloud
	cluster      *cluster
	pools        []*pool
	stock        []*stockState
	budgets      []*budgetState
	tenants      []*deployment
	ours         map[string]bool // the uids of Deployments that gpupool created
	began        time.Time
	reuses       bool // the network hands addresses, and so host names, out again
	// lost is the one document of the store that was lost; empty while none was.
	lost store.Key

	mu         sync.Mutex
	log        []string
	violations []string
	running    bool // a reconcile run is under way, not an apply
	scheduled  bool // a CronJob starts Jobs
	concurrent bool // several at once
	// resumedJobs are those of this run, and runs is when it began.
	resumedJobs int
	runs        time.Time
	unwritten   bool            // that run cannot write the ledger
	zeroed      map[string]bool // Deployments of stock pools that this run scaled to 0
	grown       map[string]bool // and those that it scaled up
	emptyRuns   map[string]int  // runs in which a machine of a destroyed pool had an empty node
}

// setup is what a world begins with. It is plain data, which a failing draw prints.
type setup struct {
	Spot    []spotSetup
	Stock   []stockSetup
	Budgets []budgetSetup
	Reuses  bool
	Tenants int // replicas of the tenant's Deployment
	// Others are the tenant's further workloads: by their kind, or by what is about a Deployment.
	Others []string
	Late   bool // tags arrive late
	Age    time.Duration
}

type spotSetup struct {
	Minimum, Maximum int
	Nodes, Guarded   bool
	ProviderID       string
	Cap              spotpool.Price // max_hourly_cost; 0 for none
	Rolling          bool
	Unavailable      int
	Budget           string
}

type stockSetup struct {
	Replicas int
	Team     string
	Marked   bool // its template's owner marks the first pod as protected
}

type budgetSetup struct {
	Team       string
	Action     budget.Action
	Hours      string
	Weightless bool // nvidia.com/gpu weighs nothing
	Fallback   budget.Fallback
	Resumed    budget.OnManualResume
}

// pool is a spot pool as Terraform states know it.
type pool struct {
	setup    spotSetup
	states   []spotpool.Declaration // what applies returned, oldest first
	attempts []spotpool.Declaration // what was asked for since the last of them
	deleting bool
	replaced map[string]bool // instances that the journal replaces
	doubtful map[string]bool // instances that something happened to: another may take their place
}

func (p *pool) now() spotpool.Declaration { return p.states[len(p.states)-1] }
func (p *pool) uid() string               { return p.states[0].UID }

func (p *pool) most(of func(spotpool.Declaration) int) int {
	n := of(p.now())
	for _, d := range p.attempts {
		n = max(n, of(d))
	}
	return n
}

type stockState struct {
	setup    stockSetup
	states   []stockpool.Declaration
	deleting bool
}

func (s *stockState) now() stockpool.Declaration { return s.states[len(s.states)-1] }

type budgetState struct {
	setup    budgetSetup
	states   []budget.Declaration
	granted  time.Time // until when hours are granted
	deleting bool
}

func (b *budgetState) uid() string                           { return b.states[0].UID }
func (b *budgetState) selects(labels map[string]string) bool { return labels["team"] == b.setup.Team }

func newWorld(s setup) *world {
	at := func(path string) store.Store {
		return draft.Empty(store.Location{Backend: store.Directory, Path: path})
	}
	w := &world{
		store: at("one"), other: at("other"), began: time.Now(), reuses: s.Reuses, ours: map[string]bool{}, zeroed: map[string]bool{}, grown: map[string]bool{},
		emptyRuns: map[string]int{},
	}
	w.cloud, w.cluster = newCloud(w), newCluster(w)
	w.cloud.tagsLate = s.Late
	ctx := context.Background()
	for n, of := range s.Budgets {
		d := budget.Declaration{
			Name: fmt.Sprintf("budget-%d", n), GPUHours: of.Hours, Window: "30d", Selector: budget.Selector{MatchLabels: map[string]string{"team": of.Team}},
			Enforce: budget.Enforcement{Action: of.Action, GracePeriod: "0s", OnIneffective: of.Fallback, OnManualResume: of.Resumed},
		}
		if of.Weightless {
			d.ResourceWeights = map[string]string{"nvidia.com/gpu": "0", fpga: "1"}
		}
		state, err := w.process(w.store).Budgets().Create(ctx, d.WithDefaults())
		w.must("creating a budget", err)
		w.budgets = append(w.budgets, &budgetState{setup: of, states: []budget.Declaration{state.Declaration}})
	}
	w.run(faults.Fault{})
	for n, of := range s.Spot {
		w.pools = append(w.pools, &pool{setup: of, replaced: map[string]bool{}, doubtful: map[string]bool{}})
		d := w.spotPool(n, of)
		w.pools[n].states = []spotpool.Declaration{d}
		state, err := w.process(w.store).SpotPools().Create(ctx, d, 2*time.Minute)
		w.must("creating a spot pool", err)
		w.pools[n].states[0] = state.Declaration
	}
	for n, of := range s.Stock {
		d := stockpool.Declaration{
			Name: fmt.Sprintf("stock-%d", n), Namespace: "ml", SpecName: "g1.1", Image: "registry.example.com/runtime:1", Memory: "16Gi", GPU: 1,
			Replicas: of.Replicas,
			Labels:   map[string]string{"team": of.Team}, AllocatedSelector: "session",
		}
		w.cluster.stockKeys[d.Key()] = true
		state, err := w.process(w.store).StockPools().Create(ctx, d.WithDefaults(), 0)
		w.must("creating a stock pool", err)
		w.stock = append(w.stock, &stockState{setup: of, states: []stockpool.Declaration{state.Declaration}})
		if of.Marked {
			w.markPod(d.Key(), 0, budget.ProtectedKey, "true")
		}
	}
	if s.Tenants > 0 {
		w.tenants = append(w.tenants, &deployment{name: "train", labels: map[string]string{"team": "a"}, gpus: 1, fpgas: 1})
		w.cluster.scale(w.tenants[0], s.Tenants)
	}
	w.tenants = append(w.tenants, &deployment{name: "serve", labels: map[string]string{"team": "b"}, gpus: 1, fpgas: 1})
	w.cluster.scale(w.tenants[len(w.tenants)-1], 1)
	for _, of := range s.Others {
		w.startOther(of)
	}
	w.pass(s.Age)
	w.run(faults.Fault{})
	return w
}

// startOther starts a workload of a tenant that a pause may not reach, or may have to stop twice.
func (w *world) startOther(of string) {
	d := &deployment{name: strings.ToLower(of), labels: map[string]string{"team": "a"}, gpus: 1, fpgas: 1}
	switch of {
	case "CronJob", "CronJob of one Job":
		w.scheduled, w.concurrent = true, of == "CronJob"
		w.cluster.schedule()
		return
	case "keda":
		w.cluster.Driven[d.name] = true
	case "webhook":
		w.cluster.Refused = map[string]string{d.name: "a webhook says no"}
	default:
		d.kind = of
	}
	w.tenants = append(w.tenants, d)
	w.cluster.scale(d, 1)
}

func (w *world) spotPool(n int, of spotSetup) spotpool.Declaration {
	d := spotpool.Declaration{
		Name: fmt.Sprintf("pool-%d", n), Region: region, Minimum: of.Minimum, Maximum: of.Maximum, Budget: of.Budget,
		Configuration: spotpool.Configuration{
			VPCID: "vpc-a1b2c3d4", ImageID: "img-good0000", SecurityGroupIDs: []string{"sg-a1b2c3d4"}, KeyIDs: []string{"skey-a1b2c3d4"},
		},
		Cooldown: spotpool.Duration(time.Second), MaxHourlyCost: of.Cap,
	}
	for _, zone := range zones {
		d.Offerings = append(d.Offerings, spotpool.Offering{AvailabilityZone: zone, InstanceType: instances, SubnetID: "subnet-a1b2c3d4"})
	}
	if of.Nodes {
		d.Nodes = &spotpool.Nodes{}
	}
	if of.Rolling {
		d.Refresh = spotpool.Refresh{Strategy: spotpool.RefreshRolling, MaxSurge: 1, MaxUnavailable: of.Unavailable}
	}
	return d.WithDefaults()
}

func (w *world) process(s store.Store) reconcile.World {
	return reconcile.World{
		Cloud: w.cloud, Cluster: w.cluster.connect, Store: s, Actor: "test", LockTimeout: 5 * time.Second, PollInterval: time.Second, FreezeLag: time.Second,
	}
}

func (w *world) repository() record.Repository {
	return record.Repository{Store: w.store, Actor: "test"}
}

func (w *world) pass(d time.Duration) {
	time.Sleep(d)
	if w.scheduled {
		w.cluster.schedule()
	}
	w.cluster.pass()
}

// run is one reconcile run, and the check of all promises.
func (w *world) run(f faults.Fault) {
	w.cluster.pass()
	p := w.process(w.store)
	if f != (faults.Fault{}) {
		p = reconciletest.Possess(p, &faults.Process{Fault: f})
	}
	w.running, w.unwritten = true, f.Times > 0 && strings.HasPrefix(f.On, "Write ledger")
	w.resumedJobs, w.runs = 0, time.Now()
	clear(w.zeroed)
	clear(w.grown)
	report, err := p.Runner().Run(context.Background(), reconcile.RunOptions{})
	w.running = false
	var did []string
	for _, d := range report.Decisions {
		if text := fmt.Sprintf("%s %s", d.Outcome, d.Summary()); !contains(did, text) {
			did = append(did, text)
		}
	}
	if f != (faults.Fault{}) { // it may not have written down what it observed
		w.cluster.unsure()
	}
	w.logf("run, fault %s: %s%s", f, strings.Join(did, "; "), map[bool]string{true: fmt.Sprintf(" (%v)", err)}[err != nil])
	w.cluster.pass()
	w.check(observed{report: report, whole: err == nil && f == (faults.Fault{}) && !w.cluster.away})
}

type observed struct {
	report reconcile.Report
	whole  bool // nothing kept it from its end
}

func (o observed) text() string {
	data, _ := json.Marshal(o.report)
	return string(data)
}

func (w *world) must(what string, err error) {
	if err != nil {
		w.violated("the world begins", "%s: %v", what, err)
	}
}

func (w *world) logf(format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.log = append(w.log, fmt.Sprintf("%9s ", time.Since(w.began))+fmt.Sprintf(format, args...))
}

func (w *world) violated(promise, format string, args ...any) {
	w.logf("BROKEN %s: %s", promise, fmt.Sprintf(format, args...))
	w.mu.Lock()
	defer w.mu.Unlock()
	w.violations = append(w.violations, promise) // without what differs from one playing to the next
}
