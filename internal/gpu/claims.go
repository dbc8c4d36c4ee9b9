package gpu

import (
	"math/big"
	"strings"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// gpuDrivers are the DRA drivers whose devices are GPUs. Other devices, such as network cards, are
// allocated in the same way and do not count.
var gpuDrivers = map[string]bool{"gpu.nvidia.com": true, "gpu.amd.com": true, "gpu.intel.com": true}

// Drivers returns the names of the DRA drivers whose devices are GPUs, sorted.
func Drivers() []string { return sortedKeys(gpuDrivers) }

// claims are the amounts held by shared claims, by the UID of the claim.
type claims map[string]amounts

func (c claims) gpus() bool {
	for _, held := range c {
		if held.gpus() {
			return true
		}
	}
	return false
}

// deviceTally sums up what a pod holds by resource claims.
type deviceTally struct {
	*tally
	world    World
	counted  map[deviceShare]bool
	byDriver map[string]*big.Rat // GPUs
}

// claimed counts the devices that are allocated to the pod's resource claims, and never counts a
// device twice. The scheduler makes a claim for a request of an extended resource: the request
// counts instead, unless that resource is not counted. A shared claim is returned as a whole, by
// its UID.
func (y *tally) claimed(held amounts, w World) claims {
	automatic := y.pod.Status.ExtendedResourceClaimStatus
	if automatic == nil && len(y.pod.Spec.ResourceClaims) == 0 {
		return nil
	}
	shared := claims{}
	d := deviceTally{tally: y, world: w, counted: map[deviceShare]bool{}, byDriver: map[string]*big.Rat{}}
	seen := map[string]bool{}
	if automatic != nil {
		seen[automatic.ResourceClaimName] = true
	}
	for i := range y.pod.Spec.ResourceClaims {
		name, ok := claimName(y.pod, &y.pod.Spec.ResourceClaims[i])
		if !ok || seen[name] {
			continue
		}
		seen[name] = true
		c := d.claim(name)
		if c == nil {
			continue
		}
		to := held
		if !isOwn(c, y.pod) {
			to = amounts{}
			shared[string(c.UID)] = to
			if of := metav1.GetControllerOf(c); of != nil && of.Kind == "Pod" {
				y.doubts.add(reason.ClaimOfAnotherPod(reason.NewValue(name), reason.NewValue(of.Name)))
			}
		}
		d.devices(to, c, func(string) bool { return true })
	}
	if automatic != nil {
		d.automatic(held, automatic)
	}
	return shared
}

// automatic counts devices allocated for requests of extended resources that are not counted
// themselves.
func (d *deviceTally) automatic(held amounts, automatic *corev1.PodExtendedResourceClaimStatus) {
	requests, resources := map[string]bool{}, []string{}
	d.allotted = map[string]bool{}
	for _, m := range automatic.RequestMappings {
		d.allotted[m.ResourceName] = true // by the scheduler; the node need not list the resource
		if !d.table.isGPU(m.ResourceName) {
			requests[m.RequestName] = true
			resources = append(resources, m.ResourceName)
		}
	}
	if len(requests) == 0 {
		return
	}
	c := d.claim(automatic.ResourceClaimName)
	if c == nil {
		return
	}
	devices := amounts{}
	d.devices(devices, c, func(request string) bool { return requests[request] })
	if len(devices) > 0 { // the devices replace the requests
		for _, resource := range resources {
			delete(held, resource)
		}
	}
	held.addAll(devices)
}

// claimName returns the name of the claim object; false if there is none yet.
func claimName(pod *corev1.Pod, c *corev1.PodResourceClaim) (string, bool) {
	if c.ResourceClaimName != nil {
		return *c.ResourceClaimName, true
	}
	for i := range pod.Status.ResourceClaimStatuses {
		if s := &pod.Status.ResourceClaimStatuses[i]; s.Name == c.Name && s.ResourceClaimName != nil {
			return *s.ResourceClaimName, true
		}
	}
	return "", false
}

// isOwn reports whether the claim belongs to this pod only. Claims made from a pod's templates do,
// unless they belong to its pod group.
func isOwn(c *resourcev1.ResourceClaim, pod *corev1.Pod) bool {
	for i := range c.OwnerReferences {
		if c.OwnerReferences[i].UID == pod.UID {
			return true
		}
	}
	return false
}

// claim returns an allocated claim, or nil if there is nothing to count.
func (d *deviceTally) claim(name string) *resourcev1.ResourceClaim {
	if d.node.Name == "" {
		return nil // an allocation can change before the pod is bound
	}
	if d.world.Claims == nil {
		d.unread = true
		d.doubts.add(reason.ClaimsNotRead(reason.NewValue(name)))
		return nil
	}
	c := d.world.Claims(d.pod.Namespace, name)
	if c == nil || c.Status.Allocation == nil {
		d.unread = true
		d.doubts.add(reason.ClaimGone(reason.NewValue(name)))
		return nil
	}
	return c
}

// deviceShare is a device, or a share of one, that only one claim holds at a time.
type deviceShare struct {
	deviceName
	share types.UID
}

// devices counts what was allocated to a claim for the wanted requests.
func (d *deviceTally) devices(held amounts, c *resourcev1.ResourceClaim, wanted func(request string) bool) {
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
		if d.counted[a] {
			continue
		}
		if weight, ok := d.device(r); ok {
			d.counted[a] = true
			held.add(r.Driver, one, weight)
		}
	}
}

// device returns how many GPUs an allocated device is; false if it is not a GPU.
func (d *deviceTally) device(r *resourcev1.DeviceRequestAllocationResult) (*big.Rat, bool) {
	if own, ok := d.table.own[r.Driver]; ok {
		return own, own.Sign() > 0
	}
	if !gpuDrivers[r.Driver] {
		return zero, d.table.extra[r.Driver]
	}
	found, ok := d.world.Inventory.device(r.Driver, r.Pool, r.Device)
	switch {
	case ok && found.node != "" && found.node != d.node.Name:
		d.doubts.add(reason.DeviceOfAnotherNode(nameOf(r), reason.Node(found.node)))
		return nil, false
	case !ok && !d.offered(r.Driver):
		return nil, false
	case !ok:
		if r.ShareID != nil || len(r.ConsumedCapacity) > 0 {
			d.doubts.add(reason.SharedDeviceUnknown(nameOf(r)))
		}
		return one, true
	}
	if found.part.Sign() == 0 {
		return nil, false
	}
	gpus := new(big.Rat).Mul(found.part, found.consumed(r.ConsumedCapacity))
	d.addDriver(r.Driver, gpus)
	return gpus, true
}

// nameOf returns the name of an allocated device.
func nameOf(r *resourcev1.DeviceRequestAllocationResult) reason.Value {
	return reason.NewValue(r.Driver + "/" + r.Pool + "/" + r.Device)
}

func (d *deviceTally) addDriver(driver string, gpus *big.Rat) {
	if before := d.byDriver[driver]; before != nil {
		gpus = new(big.Rat).Add(before, gpus)
	}
	d.byDriver[driver] = gpus
}

// offered reports whether the node may have one more GPU of a driver that is in no slice. It has at
// most as many as its slices ever offered.
func (d *deviceTally) offered(driver string) bool {
	known := d.world.Inventory
	if known == nil || !d.node.Shown {
		return true // no slice was read
	}
	most := known.offered(d.node.Name, driver)
	if seen := d.node.Capacity[driver]; seen != nil {
		most = greater(most, seen)
	}
	d.addDriver(driver, one)
	if d.byDriver[driver].Cmp(most) <= 0 {
		return true
	}
	d.capped = true
	d.doubts.add(reason.AboveOfferedDevices(reason.NewValue(driver), d.at(), amountOf(most)))
	return false
}
