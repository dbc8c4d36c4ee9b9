package conservation_test

import (
	"cmp"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// lived is what a pod really held, and from when to when.
type lived struct {
	labels   map[string]string // of when it came: a label edit moves no usage
	units    map[string]int64  // by resource
	from, to time.Time         // to is zero while it runs
}

const fpga = "example.com/fpga"

// deployment is a tenant's Deployment or other workload, whose controller acts instantly. Without a kind it is one;
// the kind "bare" is pods without an owner.
type deployment struct {
	name, kind  string
	labels      map[string]string
	gpus, fpgas int64
	replicas    int
}

const bare = "bare"

// owner is what the pods name as theirs.
func (d *deployment) owner() *ledger.Owner {
	kind, version := cmp.Or(d.kind, "Deployment"), "apps/v1"
	switch kind {
	case bare:
		return nil
	case "Job", "CronJob":
		version = "batch/v1"
	}
	return &ledger.Owner{APIVersion: version, Kind: kind, Name: d.name, UID: "uid-of-" + d.name}
}

// nightly is the CronJob of a world, if it has one.
var nightly = deployment{name: "nightly", kind: "CronJob"}

// mostJobs is how many Jobs the CronJob starts at most.
const mostJobs = 6

// schedule has the CronJob start its next Job, unless it is suspended.
func (c *cluster) schedule() {
	cron := budget.Workload{Namespace: "ml", Owner: *nightly.owner()}
	if of := c.Cluster.Workloads[cron.UID]; of != nil && of.Stopped || c.jobs == mostJobs {
		return
	}
	c.jobs++
	c.Cluster.Step(time.Since(c.Cluster.Now()))
	d := &deployment{name: fmt.Sprintf("nightly-%d", c.jobs), kind: "Job", labels: map[string]string{"team": "a"}, gpus: 1, fpgas: 1}
	c.Cluster.Schedule(budget.Workload{Namespace: "ml", Owner: *d.owner()}, cron).Concurrent = c.w.concurrent
	c.w.tenants = append(c.w.tenants, d)
	c.scale(d, 1)
}

// podOf is a pod with GPUs as budgets observe it.
func (c *cluster) podOf(uid, name string, labels map[string]string, owner *ledger.Owner, gpus, fpgas int64) *gpu.Pod {
	now := ledger.TimeOf(time.Now())
	share := func(resource string, units, weight int64) ledger.Share {
		return ledger.Share{Resource: resource, Units: big.NewRat(units, 1), Weight: big.NewRat(weight, 1)}
	}
	p := &gpu.Pod{
		UID: uid, Namespace: "ml", Name: name, Labels: maps.Clone(labels), Owner: owner, Node: gpu.Node{Name: "gpu-0"},
		Scheduled: ledger.Start{At: now, Source: ledger.PodScheduled}, Running: ledger.Start{At: now, Source: ledger.ContainerStarted},
		Live: gpu.Live{Phase: "Running"}, Allocation: ledger.Allocation{Shown: 1},
	}
	if gpus > 0 {
		p.Shares = append(p.Shares, share("nvidia.com/gpu", gpus, 1))
	}
	if fpgas > 0 {
		p.Shares = append(p.Shares, share(fpga, fpgas, 0))
	}
	return p
}

func (c *cluster) start(p *gpu.Pod) {
	c.Cluster.Pods[p.UID] = p
	c.Cluster.Changed(*p, false)
}

// scale gives a tenant's Deployment so many pods.
func (c *cluster) scale(d *deployment, replicas int) {
	owner := d.owner()
	if d.replicas = replicas; owner != nil {
		w := c.Cluster.WorkloadOf(budget.Workload{Namespace: "ml", Owner: *owner})
		w.Labels = d.labels
		c.Cluster.Scale(d.name, int32(replicas)) //nolint:gosec // few
	}
	var pods []string
	for _, p := range c.Cluster.List() {
		if owner != nil && ownerOf(p).UID == owner.UID || owner == nil && p.Owner == nil && strings.HasPrefix(p.Name, d.name+"-") {
			pods = append(pods, p.UID)
		}
	}
	for len(pods) < replicas {
		c.made++
		p := c.podOf(fmt.Sprintf("gpu-pod-%d", c.made), fmt.Sprintf("%s-%d", d.name, c.made), d.labels, owner, d.gpus, d.fpgas)
		c.start(p)
		pods = append(pods, p.UID)
	}
	for _, uid := range pods[replicas:] {
		c.Cluster.Remove(uid)
	}
	c.account("the tenant's scaling")
}

// ownerOf is what a pod names as its owner; zero if it names none.
func ownerOf(p gpu.Pod) ledger.Owner {
	if p.Owner == nil {
		return ledger.Owner{}
	}
	return *p.Owner
}

// account notes which pods came, and which ended by what.
func (c *cluster) account(cause string) (ended []string) {
	now := time.Now()
	for uid, p := range c.Cluster.Pods {
		if c.pods[uid] != nil {
			continue
		}
		of := &lived{labels: maps.Clone(p.Labels), units: map[string]int64{}, from: now}
		for _, s := range p.Shares {
			of.units[s.Resource] = s.Units.Num().Int64()
		}
		c.pods[uid] = of
	}
	for uid, of := range c.pods {
		if of.to.IsZero() && c.Cluster.Pods[uid] == nil {
			of.to = now
			ended = append(ended, uid)
		}
	}
	if len(ended) > 0 {
		slices.Sort(ended)
		c.w.logf("%s ended %s", cause, strings.Join(ended, ", "))
	}
	return ended
}

func (c *cluster) pause(seen budget.WorkloadState, do func() error) error {
	marked := c.marked(seen.UID)
	if key, of := c.stockOf(seen.UID); of != nil {
		of = of.DeepCopy()
		*of.Spec.Replicas = 0
		c.Cluster.Put(key, of)
		c.syncStock(key)
	} else if err := do(); err != nil {
		return err
	}
	c.account("a pause of " + seen.Name + " by a budget")
	if len(marked) > 0 {
		c.w.violated(promiseProtected, "a pause of %s ended %v", seen.Name, marked)
	}
	return nil
}

func (c *cluster) marked(uid string) (names []string) {
	for _, p := range c.Cluster.List() {
		if _, marked := p.Labels[budget.ProtectedKey]; marked && ownerOf(p).UID == uid {
			names = append(names, p.Name)
		}
	}
	return names
}

func (c *cluster) resume(seen budget.WorkloadState, replicas int32, do func() error) error {
	c.w.lifts(promiseUnknown, "resumed "+seen.Name, func(b *budgetState) bool { return b.setup.Action == budget.Pause && b.selects(seen.Labels) })
	if key, of := c.stockOf(seen.UID); of != nil {
		of = of.DeepCopy()
		*of.Spec.Replicas = replicas
		c.Cluster.Put(key, of)
		c.syncStock(key)
		return nil
	}
	if err := do(); err != nil {
		return err
	}
	for _, d := range c.w.tenants {
		if d.name == seen.Name {
			if d.kind == "Job" {
				replicas = 1
				c.w.resumedJobs++
			}
			c.scale(d, int(replicas))
		}
	}
	return nil
}

func (c *cluster) unfreeze(uid string) {
	if _, frozen := c.Cluster.Frozen[uid]; frozen {
		c.w.lifts(promiseUnknown, "lifted a freeze", func(b *budgetState) bool { return b.uid() == uid && b.setup.Action == budget.Freeze })
	}
}

func (c *cluster) own(pods []budget.Pod, owners *map[string]budget.Ownership, do func() error) error {
	err := do()
	for _, p := range pods {
		if p.Owner == nil || err != nil {
			continue
		}
		if _, of := c.stockOf(p.Owner.UID); of != nil {
			(*owners)[p.UID] = budget.Ownership{Workload: p.Controller(), Labels: of.Spec.Template.Labels, Stopped: *of.Spec.Replicas == 0}
		} else if strings.HasPrefix(p.Owner.UID, "0000") {
			(*owners)[p.UID] = budget.Ownership{Reason: reason.OwnerUnknown()}
		}
	}
	return err
}

func (c *cluster) workload(w budget.Workload, seen *budget.WorkloadState, do func() error) error {
	_, of := c.stockOf(w.UID)
	if of == nil {
		return do()
	}
	*seen = budget.WorkloadState{
		Workload: w, ResourceVersion: "1", Replicas: *of.Spec.Replicas, Labels: of.Spec.Template.Labels, Stopped: *of.Spec.Replicas == 0,
	}
	return nil
}

func (c *cluster) stockOf(uid string) (string, *appsv1.Deployment) {
	for key := range c.stockKeys {
		if of := c.Cluster.Deployment(key); of != nil && string(of.UID) == uid {
			return key, of
		}
	}
	return "", nil
}

// syncStock has the pods with GPUs be those of the Deployments.
func (c *cluster) syncStock(key string) {
	there := map[string]bool{}
	of := c.Cluster.Deployment(key)
	for _, p := range c.Cluster.StockPods(key) {
		there[p.UID] = true
		if c.Cluster.Pods[p.UID] == nil {
			owner := ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: of.Name, UID: string(of.UID)}
			made := c.podOf(p.UID, p.Name, p.Labels, &owner, 1, 0)
			made.Live.Annotations = map[string]string{}
			c.start(made)
		}
	}
	_, name, _ := strings.Cut(key, "/")
	for _, p := range c.Cluster.List() {
		if ownerOf(p).Name == name && !there[p.UID] {
			c.Cluster.Remove(p.UID)
		}
	}
}

func (c *cluster) listStock(l *stockpool.Observations, do func() error) error {
	err := do()
	for key := range c.stockKeys { // orphans have no Deployment
		if pods := c.Cluster.StockPods(key); err == nil && len(pods) > 0 {
			l.Pods[key] = slices.Clone(pods)
		}
	}
	return err
}

func (c *cluster) createStock(of *appsv1.Deployment, made **appsv1.Deployment, do func() error) error {
	key := of.Namespace + "/" + of.Name
	before := len(c.Cluster.StockPods(key))
	err := do()
	if err == nil {
		c.w.ours[string((*made).UID)] = true
		c.syncStock(key)
		ended := c.account("creating the Deployment " + key)
		if len(ended) > 0 && !c.w.pausable([]map[string]string{of.Spec.Template.Labels}) {
			c.w.violated(promiseOrphans, "creating the Deployment %s with %d replicas ended %d of the %d pods that were left running", key,
				*(*made).Spec.Replicas,
				len(ended), before)
		}
	}
	return err
}

func (c *cluster) applyStock(live, wanted *appsv1.Deployment, do func() error) error {
	key := wanted.Namespace + "/" + wanted.Name
	was := int(*live.Spec.Replicas)
	if now := c.Cluster.Deployment(key); now != nil {
		was = int(*now.Spec.Replicas)
	}
	marked, pods := c.marked(string(live.UID)), slices.Clone(c.Cluster.StockPods(key))
	if err := do(); err != nil {
		return err
	}
	c.syncStock(key)
	c.account("applying the Deployment " + key)
	templates := []map[string]string{wanted.Spec.Template.Labels, live.Spec.Template.Labels}
	for _, p := range pods {
		templates = append(templates, p.Labels)
	}
	for _, s := range c.w.stock { // whose labels the Deployment gets back after a manual change
		if d := s.now(); d.Key() == key {
			templates = append(templates, d.PodLabels())
		}
	}
	c.w.appliedStock(key, string(live.UID), templates, was, int(*wanted.Spec.Replicas), marked)
	return nil
}

func (c *cluster) scaleDeployment(live *appsv1.Deployment, replicas int, do func() error) error {
	wanted := live.DeepCopy()
	*wanted.Spec.Replicas = int32(replicas) //nolint:gosec // few
	return c.applyStock(live, wanted, do)
}

func (c *cluster) deleteStock(of *appsv1.Deployment, do func() error) error {
	if !c.w.ours[string(of.UID)] {
		c.w.violated(promiseForeign, "the Deployment %s/%s was deleted", of.Namespace, of.Name)
	}
	err := do()
	c.syncStock(of.Namespace + "/" + of.Name)
	c.account("deleting the Deployment " + of.Name)
	return err
}
