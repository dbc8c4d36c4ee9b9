package gpu

import (
	"math/big"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	helpers "k8s.io/component-helpers/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// MostGPUs is more than any pod can hold on one machine. A larger request is an error and would
// exceed every budget at once: it counts as none and is reported as a problem.
const MostGPUs = 10_000

// mostOnNode is how many GPUs a node is believed to have: twice those of the largest that are sold.
const mostOnNode = 64

// amount is how much a pod holds of one resource, and how many GPUs that is.
type amount struct{ units, gpus *big.Rat }

// amounts are by resource. Their values are never changed in place.
type amounts map[string]amount

func (a amounts) add(name string, units, gpus *big.Rat) {
	if before, ok := a[name]; ok {
		units, gpus = new(big.Rat).Add(before.units, units), new(big.Rat).Add(before.gpus, gpus)
	}
	a[name] = amount{units, gpus}
}

func (a amounts) addAll(b amounts) {
	for name, more := range b {
		a.add(name, more.units, more.gpus)
	}
}

// gpus reports whether any of it is a GPU rather than an extra resource.
func (a amounts) gpus() bool {
	for _, held := range a {
		if held.gpus.Sign() > 0 {
			return true
		}
	}
	return false
}

// raise makes each amount at least the other's.
func (a amounts) raise(b amounts) {
	for name, other := range b {
		own, ok := a[name]
		switch {
		case !ok:
			own = other
		default:
			if other.units.Cmp(own.units) > 0 {
				own.units = other.units
			}
			if other.gpus.Cmp(own.gpus) > 0 {
				own.gpus = other.gpus
			}
		}
		a[name] = own
	}
}

// tally sums up what one pod holds on one node.
type tally struct {
	table  *Table
	pod    *corev1.Pod
	node   *Node
	doubts doubts
	// allotted are the resources that were allocated as devices of claims.
	allotted map[string]bool
	capped   bool // an amount was reduced to the node's capacity
	unsure   bool // the capacity for an amount is unknown
	unread   bool // a part of what it holds could not be read
	// groups are the groups of its fractions, one for each GPU.
	groups []string
}

// at names the pod's node.
func (y *tally) at() reason.Node { return reason.Node(y.node.Name) }

func amountOf(n *big.Rat) reason.Amount { return reason.Amount(n.RatString()) }

// requested returns the amounts that the scheduler charges for the pod's containers. Containers
// that run together are added up. Init containers run one after the other, next to the sidecars
// started before them. They only raise the sum to what the largest of them needs. The kubelet keeps
// an init container's devices until the pod ends (kubernetes/kubernetes#71312), so this holds for
// the pod's whole life. The result equals AggregateContainerRequests
// (k8s.io/component-helpers/resource), but in exact rationals: the value of a request may depend on
// several resources.
func (y *tally) requested() amounts {
	total, sidecars, peak := amounts{}, amounts{}, amounts{}
	for i := range y.pod.Spec.Containers {
		total.addAll(y.container(&y.pod.Spec.Containers[i].Resources))
	}
	for i := range y.pod.Spec.InitContainers {
		c := &y.pod.Spec.InitContainers[i]
		own := y.container(&c.Resources)
		if isSidecar(c) {
			total.addAll(own)
			sidecars.addAll(own)
			continue
		}
		together := amounts{}
		together.addAll(own)
		together.addAll(sidecars)
		peak.raise(together)
	}
	total.raise(peak)
	y.podLevel(total)
	total.addAll(y.container(&corev1.ResourceRequirements{Requests: y.pod.Spec.Overhead}))
	return total
}

// podLevel replaces the containers' requests by the pod's own. That exists only for cpu, memory and
// huge pages, which count only if a rule says so.
func (y *tally) podLevel(total amounts) {
	if y.pod.Spec.Resources == nil {
		return
	}
	for name, units := range y.quantities(y.pod.Spec.Resources) {
		if !helpers.IsSupportedPodLevelResource(corev1.ResourceName(name)) {
			continue
		}
		delete(total, name)
		y.plain(total, name, units)
	}
}

func isSidecar(c *corev1.Container) bool {
	return c.RestartPolicy != nil && *c.RestartPolicy == corev1.ContainerRestartPolicyAlways
}

func (y *tally) container(r *corev1.ResourceRequirements) amounts {
	asked := y.quantities(r)
	if len(asked) == 0 {
		return nil
	}
	held := amounts{}
	for _, family := range vgpuFamilies {
		y.vgpus(held, asked, family)
	}
	y.qgpu(held, asked)
	for name, units := range asked {
		y.plain(held, name, units)
	}
	return held
}

// plain counts a resource whose units have the same value everywhere on a node.
func (y *tally) plain(held amounts, name string, units *big.Rat) {
	if !y.table.Counts(name) || units.Sign() == 0 {
		return
	}
	weight, doubt := y.table.weight(name, y.node)
	if y.node.Name != "" { // else there will be one, with its labels
		y.doubts.add(doubt)
	}
	held.add(name, units, new(big.Rat).Mul(units, weight))
}

// quantities returns the container's requests that matter for GPUs. A limit without a request is a
// request too (SetDefaults_Pod in pkg/apis/core/v1/defaults.go of Kubernetes, for every kind of
// container).
func (y *tally) quantities(r *corev1.ResourceRequirements) map[string]*big.Rat {
	var asked map[string]*big.Rat
	take := func(name corev1.ResourceName, q resource.Quantity) {
		if !y.table.Matters(string(name)) {
			return
		}
		if asked == nil {
			asked = map[string]*big.Rat{}
		}
		asked[string(name)] = y.rational(string(name), q)
	}
	for name, q := range r.Requests {
		take(name, q)
	}
	for name, q := range r.Limits {
		if _, ok := r.Requests[name]; !ok {
			take(name, q)
		}
	}
	return asked
}

// rational converts a quantity exactly. A negative one counts as none.
func (y *tally) rational(name string, q resource.Quantity) *big.Rat {
	units := exact(q)
	if units.Sign() < 0 {
		y.doubts.recordLoss(reason.NegativeRequest(reason.NewValue(name), amountOf(units)))
		return new(big.Rat)
	}
	return units
}

func exact(q resource.Quantity) *big.Rat {
	if n, ok := q.AsInt64(); ok {
		return new(big.Rat).SetInt64(n)
	}
	q = q.DeepCopy() // AsDec changes the quantity's form
	d := q.AsDec()
	power := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(max(d.Scale(), -d.Scale()))), nil)
	if d.Scale() >= 0 {
		return new(big.Rat).SetFrac(d.UnscaledBig(), power)
	}
	return new(big.Rat).SetInt(power.Mul(power, d.UnscaledBig()))
}

// shares converts amounts to shares, in the order of names. Claim identifies amounts that other
// pods may hold too.
func (y *tally) shares(held amounts, names []string, claim string) []ledger.Share {
	var shares []ledger.Share
	for _, name := range names {
		h := held[name]
		if h.units.Sign() <= 0 || h.gpus.Sign() <= 0 && !y.table.extra[name] {
			continue
		}
		if h.gpus.Cmp(big.NewRat(MostGPUs, 1)) > 0 {
			y.doubts.recordLoss(reason.AboveAnyMachine(amountOf(h.units), reason.NewValue(name)))
			continue
		}
		shares = append(shares, ledger.Share{Resource: name, Units: h.units, Weight: new(big.Rat).Quo(h.gpus, h.units), Claim: claim})
	}
	return shares
}
