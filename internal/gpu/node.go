package gpu

import (
	"math/big"
	"regexp"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// Node is what accounting knows of a node.
type Node struct {
	Name string
	UID  string
	// Model is the GPU's name, such as "Tesla-T4"; empty if unknown.
	Model        string
	InstanceType string
	ProviderID   string // such as "qcloud:///800001/ins-a1b2c3d4"
	Spot         bool
	Created      ledger.Time
	// Shown says that the node itself was observed recently. Otherwise only the name that the pod
	// gives is known.
	Shown bool
	// Told is how many of the labels and annotations about GPUs the node has. Programs on the node
	// add them after the node registers.
	Told int
	// Capacity is the largest observed amount that pods can be assigned there, by extended
	// resource, and GPUs by DRA driver. It is zero for a resource that was listed with none.
	Capacity map[string]*big.Rat
	// Gone says that no node of that name exists now.
	Gone bool
	// NotReady says that the kubelet was silent for some time.
	NotReady bool
	// Devices is what the node reports of its GPUs; nil if it reports nothing.
	Devices *Devices
}

// InstanceID returns the CVM instance ID, such as "ins-a1b2c3d4": the last part of the provider ID.
func (n Node) InstanceID() string { return n.ProviderID[strings.LastIndexByte(n.ProviderID, '/')+1:] }

// labelsWithin is how long after its registration a node may get the labels about its GPUs. GPU
// feature discovery runs on the node, and its image is pulled there first.
const labelsWithin = 10 * 60 * second

// LabelsDue returns when the node has the labels about its GPUs, if it gets any.
func (n Node) LabelsDue() ledger.Time { return n.Created + labelsWithin }

// The labels with which nodes report their GPUs.
const (
	nvidiaProductLabel = "nvidia.com/gpu.product" // GPU feature discovery, docs/gpu-feature-discovery
	nvidiaMemoryLabel  = "nvidia.com/gpu.memory"  // MiB
	nvidiaSlicesLabel  = "nvidia.com/gpu.slices.gi"
	nvidiaMIGStrategy  = "nvidia.com/mig.strategy"
	replicasSuffix     = ".replicas"
	countSuffix        = ".count"  // of a resource's devices
	sharedSuffix       = ".shared" // of a resource that shares devices
	sharingSuffix      = ".sharing-strategy"
	amdPartitionLabel  = "amd.com/compute-memory-partition" // AMD node labeller
	intelCountLabel    = "gpu.intel.com/device.count"       // Intel's rules for node feature discovery
	tkeInstanceLabel   = "cloud.tencent.com/node-instance-id"
)

var modelLabels = []string{
	nvidiaProductLabel, "amd.com/gpu.product-name", "beta.amd.com/gpu.product-name", "gpu.intel.com/product",
	"cloud.google.com/gke-accelerator", "karpenter.k8s.aws/instance-gpu-name", "accelerator",
}

// spotLabels are the labels of spot instances, with their values in lower case.
var spotLabels = map[string]string{
	"karpenter.sh/capacity-type": "spot", "eks.amazonaws.com/capacityType": "spot", "kubernetes.azure.com/scalesetpriority": "spot",
	"cloud.google.com/gke-spot": "true", "cloud.google.com/gke-preemptible": "true", "node.kubernetes.io/lifecycle": "spot",
}

// NodeOf returns what accounting knows of a node.
func NodeOf(n *corev1.Node) Node {
	node := Node{
		Name: n.Name, UID: string(n.UID), Model: modelOf(n), ProviderID: n.Spec.ProviderID,
		InstanceType: n.Labels[corev1.LabelInstanceTypeStable], Created: ledger.TimeOf(n.CreationTimestamp.Time),
		NotReady: notReady(n), Devices: devicesOf(n),
		Shown: true, Told: gpuLabels(n), Capacity: capacityOf(n),
	}
	if node.InstanceType == "" {
		node.InstanceType = n.Labels[corev1.LabelInstanceType]
	}
	if node.InstanceType == "QCLOUD" { // older TKE sets that for every instance
		node.InstanceType = ""
	}
	if node.ProviderID == "" {
		node.ProviderID = n.Labels[tkeInstanceLabel]
	}
	for label, value := range spotLabels {
		node.Spot = node.Spot || strings.EqualFold(n.Labels[label], value)
	}
	return node
}

func notReady(n *corev1.Node) bool {
	for i := range n.Status.Conditions {
		if c := &n.Status.Conditions[i]; c.Type == corev1.NodeReady {
			return c.Status != corev1.ConditionTrue
		}
	}
	return false // unknown
}

// modelOf returns the GPU's name without the suffixes of the discovery for slices and sharing, so
// that a model has one name.
func modelOf(n *corev1.Node) string {
	for _, label := range modelLabels {
		if model := n.Labels[label]; model != "" {
			model = strings.TrimSuffix(model, "-SHARED")
			model, _, _ = strings.Cut(model, "-MIG-")
			return model
		}
	}
	return ""
}

// devicesOf returns nil if the node reports nothing.
func devicesOf(n *corev1.Node) *Devices {
	d := Devices{Partition: n.Labels[amdPartitionLabel], Memory: number(n.Labels[nvidiaMemoryLabel])}
	if _, profile, ok := strings.Cut(n.Labels[nvidiaProductLabel], "-MIG-"); ok {
		d.MIG = strings.TrimSuffix(profile, "-SHARED")
	}
	if n.Labels[nvidiaMIGStrategy] == "single" {
		d.Slices = number(n.Labels[nvidiaSlicesLabel])
	}
	d.readReplicas(n)
	d.readCards(n)
	d.readParts(n)
	if d.none() {
		return nil
	}
	return &d
}

func (d *Devices) none() bool {
	return d.MIG == "" && d.Slices == 0 && d.Replicas == nil && d.Parts == nil && d.Memory == 0 && d.Partition == "" && d.Cards == 0
}

// gpuLabels counts the labels and annotations about GPUs, whatever their values.
func gpuLabels(n *corev1.Node) int {
	facts := 0
	for _, label := range []string{nvidiaProductLabel, nvidiaMemoryLabel, nvidiaMIGStrategy, amdPartitionLabel, intelCountLabel} {
		if n.Labels[label] != "" {
			facts++
		}
	}
	if modelOf(n) != "" && n.Labels[nvidiaProductLabel] == "" {
		facts++
	}
	for label := range n.Labels {
		if strings.HasPrefix(label, "nvidia.com/") && strings.HasSuffix(label, replicasSuffix) {
			facts++
			break
		}
	}
	var d Devices
	if d.readParts(n); d.Parts != nil {
		facts++
	}
	for _, name := range cardAnnotations {
		if n.Annotations[name] != "" {
			facts++
		}
	}
	return facts
}

// capacityOf returns the node's extended resources: those that have a domain.
func capacityOf(n *corev1.Node) map[string]*big.Rat {
	var capacity map[string]*big.Rat
	for name, q := range n.Status.Capacity {
		if !strings.Contains(string(name), "/") {
			continue
		}
		if capacity == nil {
			capacity = map[string]*big.Rat{}
		}
		capacity[string(name)] = greater(exact(q), zero)
	}
	return capacity
}

// number parses a label's positive number; zero for anything else.
func number(text string) int64 {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n < 0 {
		return 0
	}
	return n
}

// mostReplicas is more than a device has bytes to share in practice. A larger number counts as this one.
const mostReplicas = 1 << 20

func (d *Devices) share(resource string, replicas int64) {
	if replicas < 2 {
		return
	}
	replicas = min(replicas, mostReplicas)
	if d.Replicas == nil {
		d.Replicas = map[string]int{}
	}
	d.Replicas[resource] = int(replicas)
}

// readReplicas reads how many share a device. NVIDIA sets labels; Intel's plugin only lists more
// units than there are devices.
func (d *Devices) readReplicas(n *corev1.Node) {
	for label, value := range n.Labels {
		resource, ok := strings.CutSuffix(label, replicasSuffix)
		if ok && strings.HasPrefix(label, "nvidia.com/") && n.Labels[resource+sharingSuffix] != "none" {
			d.share(resource, number(value))
		}
	}
	for _, resource := range []string{intelI915, intelXe} {
		units := n.Status.Capacity[corev1.ResourceName(resource)]
		if count := number(n.Labels[intelCountLabel]); count > 0 && units.Value()%count == 0 {
			d.share(resource, units.Value()/count)
		}
	}
}

// readParts reads the part of a device that a unit is from the number of devices and the capacity. GPU
// feature discovery and the device plugin may be configured apart, so that the label of the replicas is wrong.
// Units of cards that HAMi divides are no equal parts.
func (d *Devices) readParts(n *corev1.Node) {
	for label, value := range n.Labels {
		device, ok := strings.CutSuffix(label, countSuffix)
		if !ok || device != nvidiaGPU && !strings.HasPrefix(device, migPrefix) || device == nvidiaGPU && d.Cards > 0 {
			continue
		}
		for _, resource := range []string{device, device + sharedSuffix} {
			capacity := n.Status.Capacity[corev1.ResourceName(resource)]
			count, units := number(value), capacity.Value()
			if count == 0 || count > mostReplicas || units <= count {
				continue
			}
			if d.Parts == nil {
				d.Parts = map[string]*big.Rat{}
			}
			d.Parts[resource] = big.NewRat(count, min(units, count*mostReplicas))
			if _, labeled := n.Labels[device+replicasSuffix]; labeled && d.Replicas[device] == 0 { // as not shared
				if d.Replicas == nil {
					d.Replicas = map[string]int{}
				}
				d.Replicas[device] = 1
			}
		}
	}
}

// The annotations with which the plugins for virtual GPUs list a node's cards.
var cardAnnotations = []string{"hami.io/node-nvidia-register", "volcano.sh/node-vgpu-register"}

var (
	cardMemory = regexp.MustCompile(`"devmem":\s*([0-9]{1,9})\b`)
	cardLine   = regexp.MustCompile(`^[^,]+,[0-9]+,([0-9]{1,9}),`)
)

// readCards counts the cards behind virtual GPUs, and reads their memory if all have the same.
func (d *Devices) readCards(n *corev1.Node) {
	for _, name := range cardAnnotations {
		d.readCardList(n.Annotations[name])
	}
	core, memory := n.Status.Capacity[qgpuCore], n.Status.Capacity[qgpuMemory]
	if cards := core.Value() / 100; d.Memory == 0 && cards > 0 && memory.Value() > 0 && memory.Value() < 1<<40 {
		d.Memory = memory.Value() * 1024 / cards
	}
}

// readCardList parses a list of cards as JSON, or in the form of older versions:
// "id,splits,MiB,…:id,splits,MiB,…:".
func (d *Devices) readCardList(text string) {
	var sizes []int64
	if strings.HasPrefix(strings.TrimSpace(text), "[") {
		for _, found := range cardMemory.FindAllStringSubmatch(text, -1) {
			sizes = append(sizes, number(found[1]))
		}
	} else {
		for line := range strings.SplitSeq(text, ":") {
			if found := cardLine.FindStringSubmatch(line); found != nil {
				sizes = append(sizes, number(found[1]))
			}
		}
	}
	if len(sizes) == 0 {
		return
	}
	d.Cards = int64(len(sizes))
	for _, size := range sizes {
		if size != sizes[0] {
			return
		}
	}
	if d.Memory == 0 {
		d.Memory = sizes[0]
	}
}

// Allocatable returns how many GPUs a node can assign to pods, by the same weights. They come from
// its device plugins and from the slices of DRA drivers, and are at most mostOnNode.
func (t *Table) Allocatable(n *corev1.Node, inventory *Inventory) *big.Rat {
	node := NodeOf(n)
	d := node.devices()
	total := t.onNode(inventory, n.Name)
	for name, q := range n.Status.Allocatable {
		resource := string(name)
		if !t.Counts(resource) {
			continue
		}
		units := exact(q)
		if _, own := t.own[resource]; !own && d.Cards > 0 && (resource == nvidiaGPU || resource == volcanoVGPU) {
			units = least(units, new(big.Rat).SetInt64(d.Cards)) // the units are splits of cards
		}
		weight, _ := t.weight(resource, &node)
		if gpus := new(big.Rat).Mul(units, weight); gpus.Sign() > 0 && gpus.Cmp(big.NewRat(MostGPUs, 1)) <= 0 {
			total.Add(total, gpus)
		}
	}
	if len(t.own) > 0 {
		return total
	}
	return least(total, big.NewRat(mostOnNode, 1))
}

func (t *Table) onNode(i *Inventory, node string) *big.Rat {
	return i.sum(node, func(driver string) (*big.Rat, bool) { return t.own[driver], true })
}
