package gpu_test

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestWhatAResourceIsWorth(t *testing.T) {
	t.Parallel()
	type labels = map[string]string
	for _, tt := range []struct {
		name   string
		asks   string
		labels labels
		rules  []string
		want   string
	}{
		{name: "whole GPUs", asks: "nvidia.com/gpu=2 cpu=4 memory=1Gi", want: "2"},
		{name: "no GPU", asks: "cpu=4 example.com/fpga=1", want: "0"},
		{
			name: "time-slicing without rename", asks: "nvidia.com/gpu=1",
			labels: labels{"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "time-slicing"}, want: "1/4",
		},
		{
			name: "MPS without rename", asks: "nvidia.com/gpu=2", labels: labels{"nvidia.com/gpu.replicas": "10", "nvidia.com/gpu.sharing-strategy": "mps"},
			want: "1/5",
		},
		{name: "replicas of an older discovery", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/gpu.replicas": "3"}, want: "1/3"},
		{name: "no sharing", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none"}, want: "1"},
		{
			name: "replicas that nothing shares", asks: "nvidia.com/gpu=1",
			labels: labels{"nvidia.com/gpu.replicas": "4", "nvidia.com/gpu.sharing-strategy": "none"}, want: "1",
		},
		{name: "senseless replicas", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/gpu.replicas": "-4"}, want: "1"},
		{name: "shared by name", asks: "nvidia.com/gpu.shared=1", labels: labels{"nvidia.com/gpu.replicas": "8"}, want: "1/8"},
		{
			name: "MIG single by product", asks: "nvidia.com/gpu=3",
			labels: labels{"nvidia.com/gpu.product": "A100-SXM4-40GB-MIG-1g.5gb", "nvidia.com/mig.strategy": "single", "nvidia.com/gpu.slices.gi": "1"},
			want:   "3/7",
		},
		{
			name: "MIG single, shared", asks: "nvidia.com/gpu=1",
			labels: labels{"nvidia.com/gpu.product": "A100-SXM4-40GB-MIG-3g.20gb-SHARED", "nvidia.com/gpu.replicas": "2"}, want: "3/14",
		},
		{
			name: "MIG single by slices alone", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/mig.strategy": "single", "nvidia.com/gpu.slices.gi": "2"},
			want: "2/7",
		},
		{name: "MIG single on A30", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-A30-MIG-1g.6gb"}, want: "1/4"},
		{name: "MIG mixed", asks: "nvidia.com/mig-1g.5gb=1", want: "1/7"},
		{name: "MIG mixed, several profiles", asks: "nvidia.com/mig-1g.5gb=2 nvidia.com/mig-3g.20gb=1", want: "5/7"},
		{name: "MIG whole", asks: "nvidia.com/mig-7g.80gb=1", want: "1"},
		{name: "MIG with media engines", asks: "nvidia.com/mig-1g.10gb.me=1", want: "1/7"},
		{name: "MIG with all media engines", asks: "nvidia.com/mig-2g.20gb.me.all=1", want: "2/7"},
		{name: "MIG shared by name", asks: "nvidia.com/mig-1g.5gb.shared=1", labels: labels{"nvidia.com/mig-1g.5gb.replicas": "2"}, want: "1/14"},
		{name: "MIG shared without rename", asks: "nvidia.com/mig-1g.5gb=1", labels: labels{"nvidia.com/mig-1g.5gb.replicas": "2"}, want: "1/14"},
		{name: "a compute instance in a slice", asks: "nvidia.com/mig-1c.3g.20gb=1", want: "1/7"},
		{name: "MIG of A30 without labels", asks: "nvidia.com/mig-2g.12gb=1", want: "1/2"},
		{name: "MIG of A30 by model", asks: "nvidia.com/mig-1g.6gb=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-A30"}, want: "1/4"},
		{name: "MIG of H100 by model", asks: "nvidia.com/mig-1g.12gb=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-H100-NVL"}, want: "1/7"},
		{
			name: "MIG of RTX PRO 6000", asks: "nvidia.com/mig-1g.24gb=1",
			labels: labels{"nvidia.com/gpu.product": "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"}, want: "1/4",
		},
		{name: "MIG of RTX PRO 5000", asks: "nvidia.com/mig-1g.24gb=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-RTX-PRO-5000-Blackwell"}, want: "1/2"},
		{name: "MIG of RTX PRO 4500", asks: "nvidia.com/mig-2g.32gb=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-RTX-PRO-4500-Blackwell"}, want: "1"},
		{name: "MIG of RTX PRO 4500 without labels", asks: "nvidia.com/mig-1g.16gb=1", want: "1/2"},
		{name: "MIG of Thor, single", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-Thor-MIG-1g.60gb"}, want: "1/2"},
		{name: "MIG of H20", asks: "nvidia.com/mig-1g.24gb=1", labels: labels{"nvidia.com/gpu.product": "NVIDIA-H20"}, want: "1/7"},
		{name: "MIG of nonsense", asks: "nvidia.com/mig-9x.5gb=1", want: "0"},
		{name: "AMD whole", asks: "amd.com/gpu=2", want: "2"},
		{name: "AMD partitions under one name", asks: "amd.com/gpu=1", labels: labels{"amd.com/compute-memory-partition": "cpx_nps4"}, want: "1/8"},
		{name: "AMD partitions by name", asks: "amd.com/cpx_nps4=2 amd.com/dpx_nps1=1", want: "3/4"},
		{name: "AMD modes", asks: "amd.com/spx_nps1=1 amd.com/tpx_nps1=1 amd.com/qpx_nps1=1", want: "19/12"},
		{name: "AMD of an unknown mode", asks: "amd.com/xyz_nps1=1", want: "0"},
		{name: "AMD passed through", asks: "amd.com/gpu_pf=1 amd.com/gpu_vf=1", want: "2"},
		{name: "AMD partitions of MI300A", asks: "amd.com/cpx_nps1=1", labels: labels{"amd.com/gpu.product-name": "AMD_Instinct_MI300A"}, want: "1/6"},
		{name: "Intel", asks: "gpu.intel.com/i915=1 gpu.intel.com/xe=1", want: "2"},
		{name: "Intel monitoring", asks: "gpu.intel.com/i915_monitoring=1 gpu.intel.com/xe_monitoring=1", want: "0"},
		{name: "qGPU", asks: "tke.cloud.tencent.com/qgpu-core=30 tke.cloud.tencent.com/qgpu-memory=4", want: "3/10"},
		{name: "qGPU whole cards", asks: "tke.cloud.tencent.com/qgpu-core=200", want: "2"},
		{
			name: "qGPU by memory", asks: "tke.cloud.tencent.com/qgpu-core=5 tke.cloud.tencent.com/qgpu-memory=8",
			labels: labels{"nvidia.com/gpu.memory": "16384"}, want: "1/2",
		},
		{
			name: "qGPU by all of the memory", asks: "tke.cloud.tencent.com/qgpu-core=5 tke.cloud.tencent.com/qgpu-memory=16",
			labels: labels{"nvidia.com/gpu.memory": "15360"}, want: "1",
		},
		{
			name: "qGPU by core", asks: "tke.cloud.tencent.com/qgpu-core=75 tke.cloud.tencent.com/qgpu-memory=8",
			labels: labels{"nvidia.com/gpu.memory": "16384"}, want: "3/4",
		},
		{
			name: "qGPU of the offline class", asks: "tke.cloud.tencent.com/qgpu-core-greedy=50 tke.cloud.tencent.com/qgpu-memory=4",
			labels: labels{"nvidia.com/gpu.memory": "16384"}, want: "1/4",
		},
		{name: "vcuda", asks: "tencent.com/vcuda-core=50 tencent.com/vcuda-memory=16", want: "1/2"},
		{
			name: "HAMi by memory", asks: "nvidia.com/gpu=2 nvidia.com/gpumem=4096 nvidia.com/gpucores=10", labels: labels{"nvidia.com/gpu.memory": "16384"},
			want: "1/2",
		},
		{
			name: "HAMi by cores", asks: "nvidia.com/gpu=1 nvidia.com/gpumem=1024 nvidia.com/gpucores=60", labels: labels{"nvidia.com/gpu.memory": "16384"},
			want: "3/5",
		},
		{name: "HAMi by percentage", asks: "nvidia.com/gpu=1 nvidia.com/gpumem-percentage=25", want: "1/4"},
		{name: "HAMi by cores alone", asks: "nvidia.com/gpu=2 nvidia.com/gpucores=30", want: "3/5"},
		{name: "HAMi never above the card", asks: "nvidia.com/gpu=1 nvidia.com/gpumem-percentage=400", want: "1"},
		{name: "HAMi whole", asks: "nvidia.com/gpu=1", want: "1"},
		{name: "Volcano", asks: "volcano.sh/vgpu-number=2 volcano.sh/vgpu-memory-percentage=50 volcano.sh/vgpu-cores=20", want: "1"},
		{name: "a rule in the place of the default", asks: "nvidia.com/mig-1g.5gb=1", rules: []string{"nvidia.com/mig-1g.5gb=1/8"}, want: "1/8"},
		{
			name: "a rule in the place of labels", asks: "nvidia.com/gpu=1", labels: labels{"nvidia.com/gpu.replicas": "4"},
			rules: []string{"nvidia.com/gpu=0.5"}, want: "1/2",
		},
		{name: "a rule beside the defaults", asks: "nvidia.com/gpu=1 aliyun.com/gpu-mem=8", rules: []string{"aliyun.com/gpu-mem=1/16"}, want: "3/2"},
		{name: "a rule in the place of HAMi's", asks: "nvidia.com/gpu=1 nvidia.com/gpucores=30", rules: []string{"nvidia.com/gpu=1/3"}, want: "1/3"},
		{name: "a rule that has it not counted", asks: "nvidia.com/gpu=1 amd.com/gpu=1", rules: []string{"nvidia.com/gpu=0"}, want: "1"},
		{name: "a tenth of a native resource", asks: "cpu=100m", rules: []string{"cpu=1"}, want: "1/10"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := table(t, tt.rules...).Observe(pod(asks(tt.asks)), world(tt.labels))
			if got := gpus(s); got != tt.want {
				t.Errorf("it holds %s GPUs, want %s: %v", got, tt.want, s.Shares)
			}
			undoubted(t, s)
		})
	}
}

// TestMIGOfAnUnknownProduct: what NVIDIA's list lacks is reported.
func TestMIGOfAnUnknownProduct(t *testing.T) {
	t.Parallel()
	for _, product := range []string{"NVIDIA-X1000", "NVIDIA-A300", "NVIDIA-X1000-MIG-1g.5gb"} {
		resource := "nvidia.com/mig-1g.5gb=1"
		if strings.Contains(product, "-MIG-") {
			resource = "nvidia.com/gpu=1"
		}
		s := table(t).Observe(pod(asks(resource)), world(map[string]string{"nvidia.com/gpu.product": product}))
		if got := gpus(s); got != "1/7" {
			t.Errorf("%s: a slice is %s GPUs", product, got)
		}
		doubted(t, s, "its slices are counted as sevenths")
	}
}

// TestSharesByCapacity: a node that lists more units than devices shares them, whatever its labels say. A
// contradiction is reported, and the smaller part counts.
func TestSharesByCapacity(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		asks, capacity string
		labels         map[string]string
		want, problem  string
	}{
		"without a label":              {"nvidia.com/gpu=1", "nvidia.com/gpu=50", map[string]string{"nvidia.com/gpu.count": "1"}, "1/50", ""},
		"renamed, and without a label": {"nvidia.com/gpu.shared=10", "nvidia.com/gpu.shared=50", map[string]string{"nvidia.com/gpu.count": "1"}, "1/5", ""},
		"as the label says": {
			"nvidia.com/gpu.shared=1", "nvidia.com/gpu.shared=8", map[string]string{"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"}, "1/4", "",
		},
		"exclusive by its label": {
			"nvidia.com/gpu=1", "nvidia.com/gpu=50", map[string]string{"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "1"}, "1/50",
			"its node's label nvidia.com/gpu.replicas is 1, and by the node's capacity each nvidia.com/gpu is 1/50 of a device: the smaller part is counted",
		},
		"exclusive by its strategy": {
			"nvidia.com/gpu.shared=1", "nvidia.com/gpu.shared=50",
			map[string]string{"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "1", "nvidia.com/gpu.sharing-strategy": "none"}, "1/50", "label",
		},
		"devices that are shared by different numbers": {
			"nvidia.com/gpu=6", "nvidia.com/gpu=6", map[string]string{"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "4"}, "3/2",
			"each nvidia.com/gpu is 1/3",
		},
		"a label of more": {
			"nvidia.com/gpu=1", "nvidia.com/gpu=8", map[string]string{"nvidia.com/gpu.count": "2", "nvidia.com/gpu.replicas": "2"}, "1/4",
			"each nvidia.com/gpu is 1/4",
		},
		"a slice": {
			"nvidia.com/mig-1g.5gb.shared=1", "nvidia.com/mig-1g.5gb.shared=14", map[string]string{"nvidia.com/mig-1g.5gb.count": "7"}, "1/14", "",
		},
		"slices with the strategy single": {
			"nvidia.com/gpu=1", "nvidia.com/gpu=14",
			map[string]string{"nvidia.com/gpu.count": "7", "nvidia.com/gpu.slices.gi": "1", "nvidia.com/mig.strategy": "single"}, "1/14", "",
		},
		"fewer units than devices": {"nvidia.com/gpu=1", "nvidia.com/gpu=7", map[string]string{"nvidia.com/gpu.count": "8"}, "1", ""},
		"no number":                {"nvidia.com/gpu=1", "nvidia.com/gpu=7", map[string]string{"nvidia.com/gpu.count": "many"}, "1", ""},
		"many shares":              {"nvidia.com/gpu=16384", "nvidia.com/gpu=32768", map[string]string{"nvidia.com/gpu.replicas": "16384"}, "1", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := table(t).Observe(pod(asks(tt.asks)), worldOf(gpu.NodeOf(node(tt.labels, tt.capacity))))
			if got := gpus(s); got != tt.want {
				t.Errorf("it holds %s GPUs, want %s", got, tt.want)
			}
			if tt.problem == "" {
				undoubted(t, s)
				return
			}
			doubted(t, s, tt.problem)
		})
	}
	// Units of cards that HAMi divides are no equal parts: without a part, a pod has a whole one.
	n := node(map[string]string{"nvidia.com/gpu.count": "2"}, "nvidia.com/gpu=20")
	n.Annotations = map[string]string{"hami.io/node-nvidia-register": `[{"devmem":16384},{"devmem":16384}]`}
	if got := gpus(table(t).Observe(pod(asks("nvidia.com/gpu=1")), worldOf(gpu.NodeOf(n)))); got != "1" {
		t.Errorf("a card of HAMi is %s GPUs", got)
	}
}

func TestWhatIsNotKnownIsSaid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, asks, want, problem string }{
		{"shared by an unknown number", "nvidia.com/gpu.shared=1", "1", "nvidia.com/gpu.replicas"},
		{"a shared slice", "nvidia.com/mig-1g.5gb.shared=1", "1/7", "nvidia.com/mig-1g.5gb.replicas"},
		{"a slice of 24 GB of an unknown GPU", "nvidia.com/mig-1g.24gb=1", "1/7", "GPUs with the MIG slice 1g.24gb have between 2 and 7 of them"},
		{"a slice of 48 GB of an unknown GPU", "nvidia.com/mig-2g.48gb=1", "1/2", "have between 2 and 4 of them. It counts as one of 4"},
		{"HAMi memory of an unknown card", "nvidia.com/gpu=1 nvidia.com/gpumem=4096", "1", "its node node-1 has no label nvidia.com/gpu.memory"},
		{"HAMi memory and cores of an unknown card", "nvidia.com/gpu=1 nvidia.com/gpumem=4096 nvidia.com/gpucores=20", "1/5", "only its cores are counted"},
		{"qGPU memory alone", "tke.cloud.tencent.com/qgpu-memory=4", "0", "not counted"},
		{"negative", "nvidia.com/gpu=-2", "0", "negative quantity of nvidia.com/gpu (-2)"},
		{"huge", "nvidia.com/gpu=9223372036854775807", "0", "more than any machine has"},
		{"huge by exponent", "nvidia.com/gpu=1e18", "0", "more than any machine has"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := table(t).Observe(pod(asks(tt.asks)), world(nil))
			if got := gpus(s); got != tt.want {
				t.Errorf("it holds %s GPUs, want %s", got, tt.want)
			}
			doubted(t, s, tt.problem)
		})
	}
}

func TestAPodWithoutANodeIsNotDoubted(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu.shared=1 tke.cloud.tencent.com/qgpu-memory=4 volcano.sh/vgpu-number=1 volcano.sh/vgpu-memory=1024"))
	p.Spec.NodeName = ""
	undoubted(t, table(t).Observe(p, world(nil)))
}

func TestInitContainersAreCounted(t *testing.T) {
	t.Parallel()
	one, two := asks("nvidia.com/gpu=1"), asks("nvidia.com/gpu=2")
	for _, tt := range []struct {
		name       string
		init, main []corev1.Container
		want       string
	}{
		{"the greatest alone", []corev1.Container{asks("nvidia.com/gpu=5"), two}, []corev1.Container{two}, "5"},
		{"less than the containers", []corev1.Container{one}, []corev1.Container{two, one}, "3"},
		{"one with GPUs before containers without", []corev1.Container{two}, []corev1.Container{asks("cpu=1")}, "2"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := pod(tt.main...)
			p.Spec.InitContainers = tt.init
			if got := gpus(table(t).Observe(p, world(nil))); got != tt.want {
				t.Errorf("it holds %s GPUs, want %s", got, tt.want)
			}
		})
	}
}

func TestSidecarsAreCounted(t *testing.T) {
	t.Parallel()
	p := pod(asks("nvidia.com/gpu=1"))
	p.Spec.InitContainers = []corev1.Container{asks("nvidia.com/gpu=3"), sidecar("nvidia.com/gpu=2"), asks("nvidia.com/gpu=2")}
	// 1 + 2 together; the last init container next to the sidecar needs 4.
	if got := gpus(table(t).Observe(p, world(nil))); got != "4" {
		t.Errorf("it holds %s GPUs, want 4", got)
	}
}

func TestLimitsAloneAreRequests(t *testing.T) {
	t.Parallel()
	c := asks("")
	c.Resources.Limits = list("nvidia.com/gpu=2")
	c.Resources.Requests = list("cpu=1")
	p := pod(c)
	p.Spec.InitContainers = []corev1.Container{{Resources: corev1.ResourceRequirements{Limits: list("nvidia.com/gpu=3")}}}
	if got := gpus(table(t).Observe(p, world(nil))); got != "3" {
		t.Errorf("it holds %s GPUs, want 3", got)
	}
}

func TestRequestsGoBeforeLimits(t *testing.T) {
	t.Parallel()
	c := asks("cpu=1")
	c.Resources.Limits = list("cpu=4")
	if got := gpus(table(t, "cpu=1").Observe(pod(c), world(nil))); got != "1" {
		t.Errorf("it holds %s, want the 1 that it requests", got)
	}
}

func TestPodLevelResourcesAndOverhead(t *testing.T) {
	t.Parallel()
	p := pod(asks("cpu=1 nvidia.com/gpu=1"))
	p.Spec.Resources = &corev1.ResourceRequirements{Requests: list("cpu=3 nvidia.com/gpu=9")}
	p.Spec.Overhead = list("cpu=500m")
	if got := gpus(table(t, "cpu=1").Observe(p, world(nil))); got != "9/2" {
		t.Errorf("it holds %s, want 3.5 of cpu and the one GPU", got)
	}
}

func TestFractionsByAnnotation(t *testing.T) {
	t.Parallel()
	type texts = map[string]string
	card := texts{"nvidia.com/gpu.memory": "16384"}
	for _, tt := range []struct {
		name        string
		annotations texts
		groups      texts
		labels      texts
		asks, want  string
		problem     string
	}{
		{name: "a half", annotations: texts{"gpu-fraction": "0.5"}, want: "1/2"},
		{
			name: "of two devices", annotations: texts{"gpu-fraction": "0.25", "gpu-fraction-num-devices": "2"},
			groups: texts{"runai-gpu-group/group-1": "group-1", "runai-gpu-group/group-2": "group-2"}, want: "1/2",
		},
		{name: "memory", annotations: texts{"gpu-memory": "4096"}, labels: card, want: "1/4"},
		{name: "memory of an unknown card", annotations: texts{"gpu-memory": "4096"}, want: "1", problem: "no label nvidia.com/gpu.memory"},
		{name: "more memory than the card has", annotations: texts{"gpu-memory": "99999"}, labels: card, want: "1"},
		{name: "beside whole GPUs it says nothing", annotations: texts{"gpu-fraction": "0.5"}, asks: "nvidia.com/gpu=1", want: "1"},
		{name: "negative", annotations: texts{"gpu-fraction": "-0.5"}, want: "0", problem: "invalid positive number"},
		{name: "nonsense", annotations: texts{"gpu-fraction": "half"}, want: "0", problem: "invalid positive number"},
		{name: "a division", annotations: texts{"gpu-fraction": "1/0"}, want: "0", problem: "invalid positive number"},
		{name: "above one", annotations: texts{"gpu-fraction": "2"}, want: "1", problem: "more than one"},
		{name: "no devices", annotations: texts{"gpu-fraction": "0.5", "gpu-fraction-num-devices": "0"}, want: "0", problem: "invalid number of devices"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := pod(asks(tt.asks))
			p.Annotations, p.Labels = tt.annotations, tt.groups
			if p.Labels == nil {
				p.Labels = texts{"runai-gpu-group": "group-1"}
			}
			s := table(t).Observe(p, world(tt.labels))
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

func TestReservationPodsHoldNothingOfTheirOwn(t *testing.T) {
	t.Parallel()
	for _, namespace := range []string{"kai-resource-reservation", "runai-reservation"} {
		p := pod(asks("nvidia.com/gpu=1"))
		p.Namespace = namespace
		if s := table(t).Observe(p, world(nil)); len(s.Shares) != 0 {
			t.Errorf("a pod of %s holds %v beside the fractions it stands for", namespace, s.Shares)
		}
	}
}

func TestWeightsThatAreRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, weight, want string }{
		{"nvidia.com/gpu", "-1", "invalid weight"},
		{"nvidia.com/gpu", "", "invalid weight"},
		{"nvidia.com/gpu", "one", "invalid weight"},
		{"nvidia.com/gpu", "1/0", "division by zero"},
		{"nvidia.com/gpu", "1e3", "invalid weight"},
		{"nvidia.com/gpu", "0.0000000000001", "invalid weight"},
		{"nvidia.com/gpu", "11111111111111111111111111", "invalid weight"},
		{"nvidia.com/gpu", "1/-7", "invalid weight"},
		{"nvidia.com/gpu", "NaN", "invalid weight"},
		{"nvidia.com/gpu", "0x10", "invalid weight"},
		{"", "1", "invalid resource name"},
		{"nvidia.com/gpu/x", "1", "invalid resource name"},
		{"nvidia com", "1", "invalid resource name"},
	} {
		_, err := gpu.Rules{Weights: map[string]string{tt.name: tt.weight}}.Table()
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s=%s: the error is %v, want one with %q", tt.name, tt.weight, err, tt.want)
		}
	}
	_, err := gpu.Rules{Weights: map[string]string{"a.com/b": "x", "c.com/d": "-1"}}.Table()
	if err == nil || !strings.Contains(err.Error(), "a.com/b") || !strings.Contains(err.Error(), "c.com/d") {
		t.Errorf("not every wrong weight is named: %v", err)
	}
}
