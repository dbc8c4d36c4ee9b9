package gpu

import (
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// gpuDrivers are the DRA drivers whose devices are GPUs. Other devices, such as
// network cards, are handed out in the same way and are not counted.
var gpuDrivers = map[string]bool{"gpu.nvidia.com": true, "gpu.amd.com": true, "gpu.intel.com": true}

// Drivers are the DRA drivers whose devices are GPUs, in the order of names.
func Drivers() []string { return sortedKeys(gpuDrivers) }

// claims are what is held by each claim that other pods may hold, by its uid.
type claims map[string]amounts

// gpus says whether any of it is a GPU.
func (c claims) gpus() bool {
	for _, held := range c {
		if held.gpus() {
			return true
		}
	}
	return false
}

// claimed counts the devices that the pod holds by resource claims: those that
// were allocated, whatever the claim asked for. A device is never counted twice:
// the claim that the scheduler makes for a request of an extended resource is
// left to that request, unless that resource is none that is counted; and what
// other pods may hold as well, by a claim that was not made for this one, is told
// of by claim, as all that the claim holds.
func (y *tally) claimed(held amounts, w World) claims {
	automatic := y.pod.Status.ExtendedResourceClaimStatus
	if automatic == nil && len(y.pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	shared := claims{}
	y.counted, y.byDriver = map[deviceShare]bool{}, map[string]*big.Rat{}
	seen := map[string]bool{}
	if automatic != nil {
		seen[automatic.ResourceClaimName] = true
	}
	for i := range y.pod.Spec.ResourceClaims {
		name, ok := y.claimName(&y.pod.Spec.ResourceClaims[i])
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		c := y.claim(w, name)
		if c == nil {
			continue
		}
		to := held
		if !y.own(c) {
			to = amounts{}
			shared[string(c.UID)] = to
			if of := metav1.GetControllerOf(c); of != nil && of.Kind == "Pod" {
				y.doubts.addf("its resource claim %s was made for the pod %s: what it holds is counted for both", name, of.Name)
			}
		}
		y.devices(to, c, w.Inventory, func(string) bool { return true })
	}
	if automatic != nil {
		y.automatic(held, w, automatic)
	}
	return shared
}

// automatic counts what was allocated for requests of extended resources that
// are not counted themselves.
func (y *tally) automatic(held amounts, w World, automatic *corev1.PodExtendedResourceClaimStatus) {
	requests, resources := map[string]bool{}, []string{}
	y.allotted = map[string]bool{}
	for _, m := range automatic.RequestMappings {
		y.allotted[m.ResourceName] = true // which the scheduler says, and the node need not list
		if !y.table.isGPU(m.ResourceName) {
			requests[m.RequestName] = true
			resources = append(resources, m.ResourceName)
		}
	}
	if len(requests) == 0 {
		return
	}
	c := y.claim(w, automatic.ResourceClaimName)
	if c == nil {
		return
	}
	devices := amounts{}
	y.devices(devices, c, w.Inventory, func(request string) bool { return requests[request] })
	if len(devices) > 0 { // they stand for the requests
		for _, resource := range resources {
			delete(held, resource)
		}
	}
	held.addAll(devices)
}

// claimName is the claim's own name; false where there is none, or not yet.
func (y *tally) claimName(c *corev1.PodResourceClaim) (string, bool) {
	if c.ResourceClaimName != nil {
		return *c.ResourceClaimName, true
	}
	for i := range y.pod.Status.ResourceClaimStatuses {
		if s := &y.pod.Status.ResourceClaimStatuses[i]; s.Name == c.Name && s.ResourceClaimName != nil {
			return *s.ResourceClaimName, true
		}
	}
	return "", false
}

// own says whether the claim was made for this pod alone, as those of its
// templates are, unless they are its whole group's.
func (y *tally) own(c *resourcev1.ResourceClaim) bool {
	for i := range c.OwnerReferences {
		if c.OwnerReferences[i].UID == y.pod.UID {
			return true
		}
	}
	return false
}

// claim finds an allocated claim; nil where there is nothing to count.
func (y *tally) claim(w World, name string) *resourcev1.ResourceClaim {
	if y.node.Name == "" {
		return nil // nothing is allocated for sure before the pod is bound
	}
	if w.Claims == nil {
		y.unread = true
		y.doubts.addf("it holds the resource claim %s, and no claims were read: its devices are not counted", name)
		return nil
	}
	c := w.Claims(y.pod.Namespace, name)
	if c == nil || c.Status.Allocation == nil {
		y.unread = true
		y.doubts.addf("its resource claim %s is gone or no longer allocated: its devices are not counted", name)
		return nil
	}
	return c
}

// deviceShare is a device, or a share of one, that no two claims hold at a time.
type deviceShare struct {
	deviceName
	share types.UID
}

// devices counts what was allocated to a claim, by the requests that are wanted.
func (y *tally) devices(held amounts, c *resourcev1.ResourceClaim, known *Inventory, wanted func(request string) bool) {
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		request, _, _ := strings.Cut(r.Request, "/")
		if r.AdminAccess != nil && *r.AdminAccess || !wanted(request) {
			continue
		}
		a := deviceShare{deviceName: deviceName{r.Driver, r.Pool, r.Device}}
		if r.ShareID != nil {
			a.share = *r.ShareID
		}
		if y.counted[a] {
			continue
		}
		if weight, ok := y.device(r, known); ok {
			y.counted[a] = true
			held.add(r.Driver, one, weight)
		}
	}
}

// device is how many GPUs one allocated device is; false for one that is none.
func (y *tally) device(r *resourcev1.DeviceRequestAllocationResult, known *Inventory) (*big.Rat, bool) {
	if own, ok := y.table.own[r.Driver]; ok {
		return own, own.Sign() > 0
	}
	if !gpuDrivers[r.Driver] {
		return zero, y.table.extra[r.Driver]
	}
	d, ok := known.device(r.Driver, r.Pool, r.Device)
	switch {
	case ok && d.node != "" && d.node != y.node.Name:
		y.doubts.addf("the device %s/%s/%s is on the node %s, and the pod is not: not counted", r.Driver, r.Pool, r.Device, d.node)
		return nil, false
	case !ok && !y.offered(r.Driver, known):
		return nil, false
	case !ok:
		if r.ShareID != nil || len(r.ConsumedCapacity) > 0 {
			y.doubts.addf("the device %s/%s/%s is in no resource slice, and it shares that device: counted as a whole GPU", r.Driver, r.Pool, r.Device)
		}
		return one, true
	}
	if d.part.Sign() == 0 {
		return nil, false
	}
	gpus := new(big.Rat).Mul(d.part, d.consumed(r.ConsumedCapacity))
	y.ofDriver(r.Driver, gpus)
	return gpus, true
}
