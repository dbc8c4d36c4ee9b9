package gpu_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// FuzzPod converts anything that decodes as a pod.
func FuzzPod(f *testing.F) {
	for _, seed := range []string{
		`{"metadata":{"uid":"u","creationTimestamp":"2026-11-02T10:00:00Z"},"spec":{"nodeName":"node-1","containers":[{"name":"c","resources":{"limits":{"nvidia.com/gpu":"1"}}}]},"status":{"phase":"Running","conditions":[{"type":"PodScheduled","status":"True","lastTransitionTime":"2026-11-02T10:00:01Z"}]}}`,
		`{"metadata":{"creationTimestamp":"0001-01-01T00:00:00Z"},"spec":{"nodeName":"n","initContainers":[{"restartPolicy":"Always","resources":{"requests":{"nvidia.com/mig-1g.5gb":"-1"}}}]},"status":{"phase":"Failed","reason":"Evicted","containerStatuses":[{"state":{"terminated":{"startedAt":null,"finishedAt":null}}}]}}`,
		`{"metadata":{"annotations":{"gpu-fraction":"0.3","gpu-fraction-num-devices":"999"}},"spec":{"nodeName":"n"},"status":{"phase":"Succeeded","containerStatuses":[{"state":{"terminated":{"finishedAt":"9999-12-31T23:59:59Z"}},"lastState":{"running":{}}}]}}`,
		`{"spec":{"nodeName":"n","resourceClaims":[{"name":"a","resourceClaimName":"b"},{"name":"c"}],"overhead":{"nvidia.com/gpu":"9223372036854775807"},"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1e18","nvidia.com/gpumem":"1n","nvidia.com/gpucores":"3"}}}]},"status":{"extendedResourceClaimStatus":{"resourceClaimName":"b"}}}`,
		`{"metadata":{"deletionTimestamp":"2026-11-02T10:00:01Z","managedFields":[{"subresource":"status","time":"2026-11-02T10:00:01Z"}]},"spec":{"nodeName":"gone"},"status":{"startTime":"1970-01-01T00:00:00Z"}}`,
	} {
		f.Add([]byte(seed))
	}
	weights := table(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := gpu.DecodePod(data)
		if err != nil {
			return
		}
		for _, w := range []gpu.World{{Now: now}, world(nil), worldOf(), withClaims(slices(), claim(nil, allocated("r", nvidiaDriver, "gpu-0")))} {
			s := weights.Observe(p, w)
			sane(t, p, s, now)
			if len(s.Shares) > 0 && !weights.MayHold(p) {
				t.Fatalf("it holds %v, and could not", s.Shares)
			}
		}
	})
}

// FuzzNode reads anything that decodes as a node.
func FuzzNode(f *testing.F) {
	f.Add(
		[]byte(
			`{"metadata":{"name":"n","labels":{"nvidia.com/gpu.product":"A-MIG-1g.5gb-SHARED","nvidia.com/gpu.replicas":"2","nvidia.com/gpu.memory":"x"}},"status":{"allocatable":{"nvidia.com/gpu":"3"}}}`,
		),
	)
	f.Add(
		[]byte(
			`{"metadata":{"annotations":{"hami.io/node-nvidia-register":"[{\"devmem\":0}]","volcano.sh/node-vgpu-register":"a,1,2,b:c,1,0,d"}},"status":{"capacity":{"tke.cloud.tencent.com/qgpu-core":"-100","tke.cloud.tencent.com/qgpu-memory":"9e18","gpu.intel.com/xe":"5"},"allocatable":{"nvidia.com/gpu":"-3"}}}`,
		),
	)
	weights := table(f)
	f.Fuzz(func(t *testing.T, data []byte) {
		n, err := gpu.DecodeNode(data)
		if err != nil {
			return
		}
		if got := weights.Allocatable(n, slices()); got.Sign() < 0 {
			t.Fatalf("it can give %s GPUs", got)
		}
		node := gpu.NodeOf(n)
		p := pod(asks("nvidia.com/gpu=1 nvidia.com/gpumem=1 tke.cloud.tencent.com/qgpu-core=5 tke.cloud.tencent.com/qgpu-memory=1 gpu.intel.com/xe=1 " +
			"nvidia.com/gpu.shared=1"))
		p.Spec.NodeName = node.Name
		sane(t, p, weights.Observe(p, worldOf(node)), now)
	})
}
