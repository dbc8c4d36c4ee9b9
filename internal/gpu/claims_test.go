package gpu_test

import (
	"strconv"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

const nvidiaDriver = "gpu.nvidia.com"

type result = resourcev1.DeviceRequestAllocationResult

func allocated(request, driver, device string) result {
	return result{Request: request, Driver: driver, Pool: "node-1", Device: device}
}

// claim is allocated these devices, and reserved for pods with these UIDs.
func claim(pods []string, results ...result) *resourcev1.ResourceClaim {
	c := &resourcev1.ResourceClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "ml", Name: "claim-1", UID: "uid-of-claim-1"}}
	c.Status.Allocation = &resourcev1.AllocationResult{Devices: resourcev1.DeviceAllocationResult{Results: results}}
	for _, uid := range pods {
		c.Status.ReservedFor = append(c.Status.ReservedFor, resourcev1.ResourceClaimConsumerReference{Resource: "pods", Name: "p-" + uid, UID: types.UID(uid)})
	}
	return c
}

// claiming is a pod that names the claim.
func claiming() *corev1.Pod {
	p := pod(asks("cpu=1"))
	p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: ptr("claim-1")}}
	return p
}

func withClaims(inventory *gpu.Inventory, claims ...*resourcev1.ResourceClaim) gpu.World {
	w := world(nil)
	w.Inventory = inventory
	w.Claims = func(namespace, name string) *resourcev1.ResourceClaim {
		for _, c := range claims {
			if c.Namespace == namespace && c.Name == name {
				return c
			}
		}
		return nil
	}
	return w
}

// capacities parses "name=quantity …".
func capacities(text string) map[resourcev1.QualifiedName]resourcev1.DeviceCapacity {
	made := map[resourcev1.QualifiedName]resourcev1.DeviceCapacity{}
	for name, q := range list(text) {
		made[resourcev1.QualifiedName(name)] = resourcev1.DeviceCapacity{Value: q}
	}
	return made
}

func counters(text string) map[string]resourcev1.Counter {
	made := map[string]resourcev1.Counter{}
	for name, q := range list(text) {
		made[string(name)] = resourcev1.Counter{Value: q}
	}
	return made
}

func attributes(pairs ...string) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
	made := map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{}
	for i := 0; i < len(pairs); i += 2 {
		made[resourcev1.QualifiedName(pairs[i])] = resourcev1.DeviceAttribute{StringValue: &pairs[i+1]}
	}
	return made
}

// slices offers whole GPUs, MIG slices by counters and by profile, a shareable GPU, and a device
// that is not a GPU.
func slices() *gpu.Inventory { return gpu.NewInventory(sliceList()) }

type sliceType = resourcev1.ResourceSlice

func sliceOn(node string, devices ...string) *sliceType {
	s := &sliceType{Spec: resourcev1.ResourceSliceSpec{Driver: nvidiaDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node}}}
	for _, name := range devices {
		s.Spec.Devices = append(s.Spec.Devices, resourcev1.Device{Name: name})
	}
	return s
}

func sliceList() []*sliceType {
	node := "node-1"
	mig := func(name, consumes string) resourcev1.Device {
		return resourcev1.Device{Name: name, ConsumesCounters: []resourcev1.DeviceCounterConsumption{{
			CounterSet: "gpu-0-counters", Counters: counters(consumes),
		}}}
	}
	pool := resourcev1.ResourcePool{Name: node, Generation: 2, ResourceSliceCount: 2}
	return []*sliceType{
		{Spec: resourcev1.ResourceSliceSpec{
			Driver: nvidiaDriver, NodeName: &node, Pool: resourcev1.ResourcePool{Name: node, Generation: 1},
			Devices: []resourcev1.Device{mig("gpu-0-mig-1g", "multiprocessors=98")},
		}},
		{Spec: resourcev1.ResourceSliceSpec{
			Driver: nvidiaDriver, NodeName: &node, Pool: pool,
			SharedCounters: []resourcev1.CounterSet{{Name: "gpu-0-counters", Counters: counters("memory=40Gi multiprocessors=98 memory-slice-0=1")}},
		}},
		{Spec: resourcev1.ResourceSliceSpec{
			Driver: nvidiaDriver, NodeName: &node, Pool: pool,
			Devices: []resourcev1.Device{
				mig("gpu-0", "memory=40Gi multiprocessors=98 memory-slice-0=1"),
				mig("gpu-0-mig-1g", "memory=5Gi multiprocessors=14 memory-slice-0=1"),
				mig("gpu-0-by-memory", "memory=10Gi memory-slice-0=1"),
				mig("gpu-0-by-slice", "memory-slice-0=1 unknown=1"),
				mig("gpu-0-greedy", "multiprocessors=200"),
				{Name: "gpu-1"},
				{Name: "gpu-2-mig-3g", Attributes: attributes("type", "mig", "gpu.nvidia.com/profile", "3g.20gb", "productName", "NVIDIA A100-SXM4-40GB")},
				{Name: "gpu-3", AllowMultipleAllocations: ptr(true), Capacity: capacities("memory=40Gi cores=100")},
				{Name: "imex-channel-0", Attributes: attributes("type", "imex-channel")},
			},
		}},
		{Spec: resourcev1.ResourceSliceSpec{
			Driver: "gpu.amd.com", NodeName: &node, Pool: pool,
			Devices: []resourcev1.Device{{Name: "gpu-0-cpx", Attributes: attributes("partitionProfile", "cpx_nps4")}},
		}},
		{Spec: resourcev1.ResourceSliceSpec{Driver: "dra.net", NodeName: &node, Pool: pool, Devices: []resourcev1.Device{{Name: "eth1"}}}},
	}
}

func TestDevicesByClaim(t *testing.T) {
	t.Parallel()
	admin := allocated("all", nvidiaDriver, "gpu-1")
	admin.AdminAccess = ptr(true)
	part := allocated("gpu", nvidiaDriver, "gpu-3")
	part.ShareID = ptr(types.UID("share"))
	part.ConsumedCapacity = map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("10Gi"), "cores": resource.MustParse("20")}
	otherPart := part
	otherPart.ShareID = ptr(types.UID("another share"))
	whole := allocated("gpu", nvidiaDriver, "gpu-1")
	stranger := part
	stranger.Device = "gpu-9"
	for _, tt := range []struct {
		name    string
		pods    []string
		results []result
		rules   []string
		want    string
		problem string
	}{
		{name: "a GPU", results: []result{whole}, want: "1"},
		{
			name:    "all that were allocated, whatever was asked for",
			results: []result{whole, allocated("gpu", nvidiaDriver, "gpu-9"), allocated("gpu", nvidiaDriver, "gpu-0")}, want: "3",
		},
		{name: "no device twice", results: []result{whole, allocated("again", nvidiaDriver, "gpu-1"), whole}, want: "1"},
		{name: "two shares of a device", results: []result{part, otherPart}, want: "1/2"},
		{name: "administrators hold nothing", results: []result{admin}, want: "0"},
		{name: "network cards are no GPUs", results: []result{whole, allocated("nic", "dra.net", "eth1")}, want: "1"},
		{name: "channels are no GPUs", results: []result{allocated("channel", nvidiaDriver, "imex-channel-0")}, want: "0"},
		{name: "a GPU that could be cut", results: []result{allocated("gpu", nvidiaDriver, "gpu-0")}, want: "1"},
		{name: "a slice by its counters", results: []result{allocated("gpu", nvidiaDriver, "gpu-0-mig-1g")}, want: "1/7"},
		{name: "a slice by memory", results: []result{allocated("gpu", nvidiaDriver, "gpu-0-by-memory")}, want: "1/4"},
		{name: "a slice by what is scarcest", results: []result{allocated("gpu", nvidiaDriver, "gpu-0-by-slice")}, want: "1"},
		{name: "never more than the GPU", results: []result{allocated("gpu", nvidiaDriver, "gpu-0-greedy")}, want: "1"},
		{name: "a slice by its profile", results: []result{allocated("gpu", nvidiaDriver, "gpu-2-mig-3g")}, want: "3/7"},
		{name: "a partition of AMD's", results: []result{allocated("gpu", "gpu.amd.com", "gpu-0-cpx")}, want: "1/8"},
		{name: "a share by what it takes most of", results: []result{part}, want: "1/4"},
		{name: "a share of an unknown device", results: []result{stranger}, want: "1", problem: "is in no resource slice"},
		{name: "an unknown device", results: []result{allocated("gpu", nvidiaDriver, "gpu-9")}, want: "1"},
		{name: "shared by three pods, to be divided by who knows since when", pods: []string{"uid-1", "uid-2", "uid-3"}, results: []result{whole}, want: "1"},
		{name: "shared, and over for this one", pods: []string{"uid-2"}, results: []result{whole}, want: "1"},
		{name: "a rule for the driver", results: []result{allocated("gpu", nvidiaDriver, "gpu-0-mig-1g")}, rules: []string{"gpu.nvidia.com=1/8"}, want: "1/8"},
		{
			name: "a rule for another driver", results: []result{allocated("gpu", "gpu.example.com", "gpu-0")}, rules: []string{"gpu.example.com=1/2"},
			want: "1/2",
		},
		{name: "a driver that is not counted", results: []result{whole}, rules: []string{"gpu.nvidia.com=0"}, want: "0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.pods == nil {
				tt.pods = []string{"uid-1"}
			}
			s := table(t, tt.rules...).Observe(claiming(), withClaims(slices(), claim(tt.pods, tt.results...)))
			if got := gpus(s); got != tt.want {
				t.Errorf("it holds %s GPUs, want %s", got, tt.want)
			}
			if tt.problem == "" {
				undoubted(t, s)
			} else {
				doubted(t, s, tt.problem)
			}
		})
	}
}

// TestWhatOthersMayHoldIsToldByClaim: the order of pods, and which of them run, make no difference.
func TestWhatOthersMayHoldIsToldByClaim(t *testing.T) {
	t.Parallel()
	whole := allocated("gpu", nvidiaDriver, "gpu-1")
	mine, groups, alone := claim(nil, whole), claim(nil, whole), claim([]string{"uid-1"}, whole)
	mine.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "p", UID: "uid-1", Controller: ptr(true)}}
	groups.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "scheduling.k8s.io/v1alpha2", Kind: "PodGroup", Name: "g", UID: "uid-of-group", Controller: ptr(true),
	}}
	named, made := claiming(), claiming()
	made.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimTemplateName: ptr("t")}}
	made.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "gpu", ResourceClaimName: ptr("claim-1")}}
	for _, tt := range []struct {
		name  string
		pod   *corev1.Pod
		claim *resourcev1.ResourceClaim
		want  string
	}{
		{"named, of one pod", named, alone, "uid-of-claim-1"},
		{"named, of three", named, claim([]string{"uid-1", "uid-2", "uid-3"}, whole), "uid-of-claim-1"},
		{"made for the pod", made, mine, ""},
		{"made for the pod, and named by it", named, mine, ""},
		{"made for the pod's group", made, groups, "uid-of-claim-1"},
	} {
		s := table(t).Observe(tt.pod, withClaims(nil, tt.claim))
		if len(s.Shares) != 1 || s.Shares[0].Claim != tt.want || gpus(s) != "1" {
			t.Errorf("%s: it holds %+v, want a GPU by the claim %q", tt.name, s.Shares, tt.want)
		}
		undoubted(t, s)
	}
}

// TestAClaimThatWasMadeForAnotherPodIsDoubted: that pod counts all of it, too.
func TestAClaimThatWasMadeForAnotherPodIsDoubted(t *testing.T) {
	t.Parallel()
	others := claim(nil, allocated("gpu", nvidiaDriver, "gpu-1"))
	others.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Pod", Name: "owner", UID: "uid-9", Controller: ptr(true)}}
	doubted(t, table(t).Observe(claiming(), withClaims(nil, others)), "was made for the pod owner")
}

func TestTheSameClaimTwiceIsOnce(t *testing.T) {
	t.Parallel()
	p := claiming()
	p.Spec.ResourceClaims = append(p.Spec.ResourceClaims,
		corev1.PodResourceClaim{Name: "again", ResourceClaimName: ptr("claim-1")},
		corev1.PodResourceClaim{Name: "template", ResourceClaimTemplateName: ptr("t")},
		corev1.PodResourceClaim{Name: "none", ResourceClaimTemplateName: ptr("t")})
	p.Status.ResourceClaimStatuses = []corev1.PodResourceClaimStatus{{Name: "template", ResourceClaimName: ptr("claim-2")}, {Name: "none"}}
	second := claim([]string{"uid-1"}, allocated("gpu", nvidiaDriver, "gpu-0"))
	second.Name, second.UID = "claim-2", "uid-of-claim-2"
	s := table(t).Observe(p, withClaims(nil, claim([]string{"uid-1"}, allocated("gpu", nvidiaDriver, "gpu-1")), second))
	if got := gpus(s); got != "2" {
		t.Errorf("it holds %s GPUs, want 2", got)
	}
	undoubted(t, s)
}

// TestExtendedResourceByClaimIsCountedOnce covers the scheduler's own claim for a request of an
// extended resource that a DRA driver serves.
func TestExtendedResourceByClaimIsCountedOnce(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{
		"nvidia.com/gpu": "1", "deviceclass.resource.kubernetes.io/gpu.nvidia.com": "1", "example.com/accelerator": "1",
	} {
		p := pod(asks(name + "=1"))
		p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{
			ResourceClaimName: "claim-1",
			RequestMappings:   []corev1.ContainerExtendedResourceRequest{{ContainerName: "main", ResourceName: name, RequestName: "container-0-request-0"}},
		}
		c := claim([]string{"uid-1"}, allocated("container-0-request-0", nvidiaDriver, "gpu-1"))
		// Even if the pod names that claim itself.
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "own", ResourceClaimName: ptr("claim-1")}}
		s := table(t).Observe(p, withClaims(nil, c))
		if got := gpus(s); got != want {
			t.Errorf("%s: it holds %s GPUs, want %s", name, got, want)
		}
		undoubted(t, s)
	}
}

func TestClaimsThatCannotBeRead(t *testing.T) {
	t.Parallel()
	released := claim(nil)
	released.Status.Allocation = nil
	for name, w := range map[string]gpu.World{
		"no claims were read":      world(nil),
		"was deleted":              withClaims(nil),
		"no longer allocated":      withClaims(nil, released),
		"its resource claim claim": withClaims(nil),
	} {
		s := table(t).Observe(claiming(), w)
		if gpus(s) != "0" {
			t.Errorf("%s: it holds %s GPUs", name, gpus(s))
		}
		doubted(t, s, name)
	}
	unbound := claiming()
	unbound.Spec.NodeName = ""
	undoubted(t, table(t).Observe(unbound, world(nil)))
}

func TestFirstAvailableRequestsNameTheirSubrequest(t *testing.T) {
	t.Parallel()
	p := pod(asks("example.com/accelerator=1"))
	p.Status.ExtendedResourceClaimStatus = &corev1.PodExtendedResourceClaimStatus{
		ResourceClaimName: "claim-1",
		RequestMappings:   []corev1.ContainerExtendedResourceRequest{{ResourceName: "example.com/accelerator", RequestName: "r"}},
	}
	var results []result
	for i := range 3 {
		results = append(results, allocated([]string{"r/small", "r", "other"}[i], nvidiaDriver, "gpu-"+strconv.Itoa(i)))
	}
	if got := gpus(table(t).Observe(p, withClaims(nil, claim([]string{"uid-1"}, results...)))); got != "2" {
		t.Errorf("it holds %s GPUs, want those of its two results", got)
	}
}
