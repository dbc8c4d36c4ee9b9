package gpu

import (
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
)

// gpuDrivers are the DRA drivers whose devices are GPUs. Other devices, such as
// network cards, are handed out in the same way and are not counted.
var gpuDrivers = map[string]bool{"gpu.nvidia.com": true, "gpu.amd.com": true, "gpu.intel.com": true}

// Drivers are the DRA drivers whose devices are GPUs, in the order of names.
func Drivers() []string { return sortedKeys(gpuDrivers) }

// claimed counts the devices that the pod holds by resource claims: those that
// were allocated, whatever the claim asked for. A device is never counted twice:
// the claim that the scheduler makes for a request of an extended resource is
// left to that request, unless that resource is none that is counted.
func (y *tally) claimed(held amounts, w World) {
	automatic := y.pod.Status.ExtendedResourceClaimStatus
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
		y.claim(held, w, name, func(string) bool { return true })
	}
	if automatic == nil {
		return
	}
	requests, resources := map[string]bool{}, []string{}
	for _, m := range automatic.RequestMappings {
		if !y.table.isGPU(m.ResourceName) {
			requests[m.RequestName] = true
			resources = append(resources, m.ResourceName)
		}
	}
	if len(requests) == 0 {
		return
	}
	devices := amounts{}
	y.claim(devices, w, automatic.ResourceClaimName, func(request string) bool { return requests[request] })
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

// claim counts what was allocated to one claim, by the requests that are wanted.
func (y *tally) claim(held amounts, w World, name string, wanted func(request string) bool) {
	if y.node.Name == "" {
		return // nothing is allocated for sure before the pod is bound
	}
	if w.Claims == nil {
		y.doubts.addf("it holds the resource claim %s, and no claims were read: its devices are not counted", name)
		return
	}
	c := w.Claims(y.pod.Namespace, name)
	if c == nil || c.Status.Allocation == nil {
		y.doubts.addf("its resource claim %s is gone or no longer allocated: its devices are not counted", name)
		return
	}
	sharing := big.NewRat(1, y.sharing(c))
	for i := range c.Status.Allocation.Devices.Results {
		r := &c.Status.Allocation.Devices.Results[i]
		request, _, _ := strings.Cut(r.Request, "/")
		if r.AdminAccess != nil && *r.AdminAccess || !wanted(request) {
			continue
		}
		if weight, ok := y.device(r, w.Inventory); ok {
			held.add(r.Driver, sharing, new(big.Rat).Mul(weight, sharing))
		}
	}
}

// sharing is how many pods share the claim, this one included. A pod that has
// ended is no longer among those that the claim is reserved for.
//
// That is true of the moment alone. Whoever keeps the first look at each pod
// counts a claim exactly only if its pods were all there then: those that join one
// after the other weigh 1, 1/2, 1/3 of it, which together is more than the claim,
// and a pod that joined as the second goes on to weigh a half when it is the last.
func (y *tally) sharing(c *resourcev1.ResourceClaim) int64 {
	pods, own := int64(0), false
	for i := range c.Status.ReservedFor {
		if r := &c.Status.ReservedFor[i]; r.APIGroup == "" && r.Resource == "pods" {
			pods++
			own = own || r.UID == y.pod.UID
		}
	}
	if !own {
		pods++
	}
	return pods
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
	if !ok {
		if r.ShareID != nil || len(r.ConsumedCapacity) > 0 {
			y.doubts.addf("the device %s/%s/%s is in no resource slice, and it shares that device: counted as a whole GPU", r.Driver, r.Pool, r.Device)
		}
		return one, true
	}
	if d.part.Sign() == 0 {
		return nil, false
	}
	return new(big.Rat).Mul(d.part, d.consumed(r.ConsumedCapacity)), true
}
