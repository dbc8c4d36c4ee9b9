package cluster_test

import (
	"math/big"
	"testing"

	corev1 "k8s.io/api/core/v1"
	resourcev1 "k8s.io/api/resource/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/kubetest"
)

// TestSchedulerAllocationsAreCounted has the real scheduler allocate devices of all kinds: a slice of a GPU,
// a share of one, and one that two pods share. One GPU is for an extended resource, and one for an
// administrator.
func TestSchedulerAllocationsAreCounted(t *testing.T) {
	t.Parallel()
	server := kubetest.Start(t)
	ns := server.Namespace(t, "resource.kubernetes.io/admin-access=true")
	node := kubetest.Create(t, server, kubetest.Node("devices-handed-out", 0))
	class := kubetest.Create(t, server, kubetest.DeviceClass("devices-handed-out", "gpu.nvidia.com"))
	wholes := kubetest.DeviceClass("devices-handed-out-whole", "gpu.nvidia.com")
	wholes.Spec.Selectors = []resourcev1.DeviceSelector{ofKind("whole")}
	extended := "devices-handed-out.example.com/gpu"
	wholes.Spec.ExtendedResourceName = &extended
	kubetest.Create(t, server, wholes)
	for _, slice := range cutGPUs(node.Name) {
		kubetest.Create(t, server, slice)
	}
	claim := func(name, kind string, change func(*resourcev1.ExactDeviceRequest)) string {
		c := kubetest.ResourceClaim(ns, name, class.Name, 1)
		request := c.Spec.Devices.Requests[0].Exactly
		request.Selectors = []resourcev1.DeviceSelector{ofKind(kind)}
		if change != nil {
			change(request)
		}
		return kubetest.Create(t, server, c).Name
	}
	slice, whole := claim("slice", "slice", nil), claim("whole", "whole", nil)
	share := claim("share", "shared", func(r *resourcev1.ExactDeviceRequest) {
		r.Capacity = &resourcev1.CapacityRequirements{Requests: map[resourcev1.QualifiedName]resource.Quantity{"memory": resource.MustParse("10Gi")}}
	})
	admin := claim("admin", "whole", func(r *resourcev1.ExactDeviceRequest) {
		yes := true
		r.AdminAccess, r.AllocationMode, r.Count = &yes, resourcev1.DeviceAllocationModeAll, 0
	})

	pods := map[string]*corev1.Pod{}
	for name, option := range map[string]kubetest.PodOption{
		"slice": kubetest.Claim(slice), "share": kubetest.Claim(share), "first": kubetest.Claim(whole), "second": kubetest.Claim(whole),
		"admin": kubetest.Claim(admin), "extended": kubetest.Resource(corev1.ResourceName(extended), "1"),
	} {
		pods[name] = kubetest.Create(t, server, kubetest.Pod(ns, name, option, kubetest.OnNode(node.Name)))
	}
	for _, pod := range pods {
		server.WaitRunning(t, pod)
	}

	held, by := map[string]string{}, map[string]string{}
	for _, s := range in(ns, observe(t, connect(t, server.Kubeconfig()), gpu.ObserveOptions{}).Pods) {
		sum := new(big.Rat)
		for _, share := range s.Shares {
			sum.Add(sum, new(big.Rat).Mul(share.Units, share.Weight))
			by[s.Name] = share.Claim
		}
		held[s.Name] = sum.RatString()
		if len(s.Problems) > 0 {
			t.Errorf("%s: %v", s.Name, s.Problems)
		}
	}
	for name, want := range map[string]string{"slice": "1/7", "share": "1/4", "first": "1", "second": "1", "extended": "1", "admin": "0"} {
		if held[name] != want {
			t.Errorf("the pod %s holds %q GPUs, want %q", name, held[name], want)
		}
	}
	// It is one GPU: who counts divides it among the pods that hold its claim.
	if by["first"] == "" || by["first"] != by["second"] || by["extended"] != "" {
		t.Errorf("what they hold is held by the claims %v", by)
	}
}

// nodeWithDevices is a node with four devices, of which pods of a namespace may
// have two by the claim template "two".
func nodeWithDevices(t *testing.T, server *kubetest.Cluster, namespace, name string) *corev1.Node {
	t.Helper()
	node := kubetest.Create(t, server, kubetest.Node(name, 0))
	kubetest.Create(t, server, kubetest.DeviceClass(name, "gpu.nvidia.com"))
	kubetest.Create(t, server, kubetest.ResourceSlice(node.Name, "gpu.nvidia.com", 4, "16Gi"))
	kubetest.Create(t, server, kubetest.ResourceClaimTemplate(namespace, "two", name, 2))
	return node
}

func ofKind(kind string) resourcev1.DeviceSelector {
	return resourcev1.DeviceSelector{CEL: &resourcev1.CELDeviceSelector{
		Expression: `device.driver == "gpu.nvidia.com" && device.attributes["gpu.nvidia.com"].?kind.orValue("") == "` + kind + `"`,
	}}
}

// cutGPUs are the slices of a driver with four GPUs. One is cut, one is for requests by extended resource,
// one is whole, and one can be shared.
func cutGPUs(node string) []*resourcev1.ResourceSlice {
	const driver = "gpu.nvidia.com"
	counters := func(multiprocessors string) map[string]resourcev1.Counter {
		return map[string]resourcev1.Counter{"multiprocessors": {Value: resource.MustParse(multiprocessors)}}
	}
	kind := func(of string) map[resourcev1.QualifiedName]resourcev1.DeviceAttribute {
		return map[resourcev1.QualifiedName]resourcev1.DeviceAttribute{"kind": {StringValue: &of}}
	}
	devices, shared := kubetest.ResourceSlice(node, driver, 4, "40Gi"), kubetest.ResourceSlice(node, driver, 0, "40Gi")
	shared.Name += "-counters"
	shared.Spec.SharedCounters = []resourcev1.CounterSet{{Name: "gpu-0", Counters: counters("98")}}
	list, several := devices.Spec.Devices, true
	list[0].Attributes, list[0].ConsumesCounters = kind("slice"), []resourcev1.DeviceCounterConsumption{{CounterSet: "gpu-0", Counters: counters("14")}}
	list[1].Attributes = kind("whole")
	list[2].Attributes, list[2].AllowMultipleAllocations = kind("shared"), &several
	list[3].Attributes = kind("whole")
	devices.Spec.Pool.ResourceSliceCount, shared.Spec.Pool.ResourceSliceCount = 2, 2
	return []*resourcev1.ResourceSlice{shared, devices}
}
