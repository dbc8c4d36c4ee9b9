package reconciletest

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest/faults"
)

// Cluster is a cluster in memory with its own clock. Of a server's behavior it has only what
// runs observe: pods and their history, and the changes by runs. Each port's calls are a type
// of their own.
type Cluster struct {
	*view
	podAPI
	workloadAPI
	enforcementAPI
	nodeAPI
	tokenAPI
	stockAPI
}

type state struct {
	mu         sync.Mutex
	ClusterUID string // the cluster's identity
	now        time.Time
	stepped    time.Duration // by which a test let the clock go on
	Fast       time.Duration // by how much the server's own clock is ahead
	Version    int           // of the last change
	Pods       map[string]*gpu.Pod
	History    []change
	// forgotten is up to which version the history is gone.
	forgotten int
	Events    map[string]time.Time
	Blocked   map[string]bool  // names of pods that a disruption budget protects
	Broken    map[string]error // by the name of the pod whose eviction fails with it
	Driven    map[string]bool  // names of workloads that an autoscaler scales
	classes   map[string]int32
	Former    map[string]map[string]string // labels of namespaces that are gone, by the pod's uid
	Grace     time.Duration                // that evicted pods take to be gone; zero is at once

	Machines map[string]*Machine // by name
	update   func()              // brings the nodes up to date before they are read
	neverAny bool                // no machine joins any more
	joined   map[string]bool
	tokens   map[string]node.BootstrapToken // by id
	// Unemptied are ends of machines with pods on them, unless the pool is Impatient.
	Unemptied []string
	Impatient bool
	Frozen    map[string]budget.FreezeRule
	// FreezeSlots is who last wrote what a freeze would use.
	FreezeSlots budget.SlotWrite
	Unknown     []budget.Unrecognized
	// Workloads are by uid; Forged and Forgiving are names of such.
	Workloads map[string]*Workload
	Forged    map[string]bool
	Forgiving map[string]bool
	// FailuresLeft are how many pods of Jobs can still fail, by the Job's name.
	FailuresLeft map[string]int
	// Refused are why the cluster refuses to pause workloads, by name.
	Refused  map[string]string
	cronJobs map[string]string // UIDs, by the Job's UID
	// Stuck are names of workloads whose pods stay when they are stopped.
	Stuck   map[string]bool
	Alerts  []budget.Event
	Evicted []string
	Graces  []int64  // of the evictions that were asked for
	Acts    []string // all that was done, in order
	calls   map[string]int
	// Failing are calls that fail so, by the name of a method, or of one and its node.
	Failing map[string]error
	// Hook is around each call of whichever process, unless nil.
	Hook       faults.Hook
	Lists      int        // observations that listed all pods
	Remembered []gpu.Node // the nodes that the last observation got
	stock      stock
	// Listing runs between the position of an observation and its list, unless nil.
	Listing func()
}

type change struct {
	version int
	pod     gpu.Pod
	deleted bool
}

// NewCluster is a cluster without pods.
func NewCluster() *Cluster {
	return over(&state{
		ClusterUID: "11111111-2222-3333-4444-555555555555", now: time.Now().UTC().Truncate(time.Second), Version: 1,
		Pods: map[string]*gpu.Pod{}, Machines: map[string]*Machine{}, joined: map[string]bool{}, tokens: map[string]node.BootstrapToken{},
		Events: map[string]time.Time{}, Blocked: map[string]bool{}, Driven: map[string]bool{}, Stuck: map[string]bool{},
		Frozen: map[string]budget.FreezeRule{}, calls: map[string]int{}, Failing: map[string]error{}, Workloads: map[string]*Workload{},
		classes: map[string]int32{"high": 1000}, cronJobs: map[string]string{},
	})
}

type view struct {
	*state
	hooks []faults.Hook
}

func over(s *state, hooks ...faults.Hook) *Cluster {
	v := &view{s, hooks}
	return &Cluster{v, podAPI{v}, workloadAPI{v}, enforcementAPI{v}, nodeAPI{v}, tokenAPI{v}, stockAPI{v}}
}

// By is the same cluster, each call of which goes through hooks first.
func (c *Cluster) By(hooks ...faults.Hook) reconcile.Cluster { return over(c.state, hooks...) }

// Connect is the cluster as a reconcile.World has it.
func (c *Cluster) Connect(context.Context) (reconcile.Cluster, error) { return c, nil }

// read makes a call of a port: it goes through the hooks, is counted, and fails if that was
// asked for. do holds the lock.
func read[T any](ctx context.Context, v *view, method string, do func() (T, error), args ...any) (T, error) {
	return faults.Get(ctx, append(v.hooks[:len(v.hooks):len(v.hooks)], v.Hook), faults.Call{Name: method, Args: args}, func() (answer T, err error) {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.calls[method]++
		if err := v.Failing[method]; err != nil {
			return answer, err
		}
		return do()
	})
}

func (v *view) change(ctx context.Context, method string, do func() error, args ...any) error {
	_, err := read(ctx, v, method, func() (none struct{}, err error) { return none, do() }, args...)
	return err
}

// act makes a call that changes something, and notes what was done.
func (v *view) act(ctx context.Context, method, what string, do func() error, args ...any) error {
	return v.change(ctx, method, func() error {
		if err := do(); err != nil {
			return err
		}
		v.Acts = append(v.Acts, method+" "+what)
		return nil
	}, args...)
}

// Now returns the time of all clocks.
func (c *state) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Step lets the cluster's clock go on.
func (c *state) Step(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now, c.stepped = c.now.Add(d), c.stepped+d
}

// Calls counts the calls so far, by method.
func (c *state) Calls() map[string]int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.calls)
}

func (v *view) UID(ctx context.Context) (string, error) {
	return read(ctx, v, "UID", func() (string, error) { return v.ClusterUID, nil })
}

var _ reconcile.Cluster = (*Cluster)(nil)

// Copy is a cluster with the same pods, history and measures, without stock pools and
// machines.
func (c *Cluster) Copy() *Cluster {
	c.mu.Lock()
	defer c.mu.Unlock()
	copied := NewCluster()
	copied.ClusterUID, copied.now, copied.Version, copied.forgotten = c.ClusterUID, c.now, c.Version, c.forgotten
	copied.History, copied.Frozen = slices.Clone(c.History), maps.Clone(c.Frozen)
	for uid, pod := range c.Pods {
		copied.Pods[uid] = new(*pod)
	}
	for uid, workload := range c.Workloads {
		copied.Workloads[uid] = new(*workload)
	}
	return copied
}
