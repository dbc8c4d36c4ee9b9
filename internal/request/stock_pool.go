package request

import (
	"cmp"
	"regexp"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// The defaults of a requested stock pool.
const (
	DefaultNamespace = "default"
	// PlaceholderImage runs if a request names no image: a container that only waits.
	PlaceholderImage = "registry.k8s.io/pause:3.10"
	DefaultMemory    = "64Mi"
)

// StockPool requests a stock pool. Its fields are arguments of the resource gpupool_stock_pool. It
// cannot use a service account or a lower pod security level: declare that in Terraform.
type StockPool struct {
	// The name of the stock pool. If omitted, one is derived from spec_name.
	Name string `json:"name,omitempty"`
	// The namespace. Default: `default`.
	Namespace string `json:"namespace,omitempty"`
	// The flavor, such as `g1.1`.
	SpecName string `json:"spec_name"`
	// The image. Default: a placeholder that only waits.
	Image string `json:"image,omitempty"`
	// The memory of each pod, such as `16Gi`.
	Memory string `json:"memory,omitempty"`
	// The number of GPUs of each pod.
	GPU int `json:"gpu"`
	// The number of pods.
	Replicas int `json:"replicas"`
	// Whether `replicas` counts all pods (`total`) or those that are not in use (`available`).
	ReplicasPolicy stockpool.ReplicasPolicy `json:"replicas_policy,omitempty"`
	// The maximum number of pods with `replicas_policy` = `available`.
	Maximum int `json:"maximum,omitempty"`
	// The CPU request of each pod, such as `4`.
	CPU string `json:"cpu,omitempty"`
	// The command of the container.
	Command []string `json:"command,omitempty"`
	// The arguments of the command.
	Args []string `json:"args,omitempty"`
	// Environment variables. Responses and output hide their values.
	Env map[string]string `json:"env,omitempty"`
	// The ports of the container.
	Ports []stockpool.Port `json:"ports,omitempty"`
	// Labels of the pods.
	Labels map[string]string `json:"labels,omitempty"`
	// The node selector of the pods.
	NodeSelector map[string]string `json:"node_selector,omitempty"`
	// The tolerations of the pods.
	Tolerations []stockpool.Toleration `json:"tolerations,omitempty"`
	// The name of the GPU resource. Default: `nvidia.com/gpu`.
	GPUResource string `json:"gpu_resource,omitempty"`
	// The runtime class of the pods.
	RuntimeClassName string `json:"runtime_class_name,omitempty"`
	// Secrets of the namespace to pull the image with.
	ImagePullSecrets []string `json:"image_pull_secrets,omitempty"`
	// Selects the pods in use, in the syntax of `kubectl --selector`.
	AllocatedSelector string `json:"allocated_selector,omitempty"`
	// The budget that blocks growth when it is exceeded.
	Budget string `json:"budget,omitempty"`
	Span
}

func (s StockPool) key() string { return cmp.Or(s.Namespace, DefaultNamespace) + "/" + s.Name }

// WithDefaults sets the defaults of omitted fields. The name is derived from the flavor and the
// ID of the job.
func (s StockPool) WithDefaults(id string) StockPool {
	s.Namespace = cmp.Or(s.Namespace, DefaultNamespace)
	s.Image = cmp.Or(s.Image, PlaceholderImage)
	s.Memory = cmp.Or(s.Memory, DefaultMemory)
	if s.Name == "" {
		s.Name = derivedName(s.SpecName, id)
	}
	return s
}

var notInNames = regexp.MustCompile(`[^a-z0-9]+`)

func derivedName(spec, id string) string {
	flavor := strings.Trim(notInNames.ReplaceAllString(strings.ToLower(spec), "-"), "-")
	flavor = strings.Trim(flavor[:min(len(flavor), 40)], "-")
	return strings.Trim(flavor+"-"+id[:min(len(id), 8)], "-")
}

// Declaration returns the declaration of the stock pool, without its identity, owner and expiry.
func (s StockPool) Declaration() stockpool.Declaration {
	return stockpool.Declaration{
		Name: s.Name, Namespace: s.Namespace, SpecName: s.SpecName, Image: s.Image, Memory: s.Memory, GPU: s.GPU, Replicas: s.Replicas,
		ReplicasPolicy: s.ReplicasPolicy, Maximum: s.Maximum, CPU: s.CPU, Command: s.Command, Args: s.Args, Env: s.Env, Ports: s.Ports, Labels: s.Labels,
		NodeSelector: s.NodeSelector, Tolerations: s.Tolerations, GPUResource: s.GPUResource, RuntimeClassName: s.RuntimeClassName,
		ImagePullSecrets: s.ImagePullSecrets, AllocatedSelector: s.AllocatedSelector, Budget: s.Budget,
	}.WithDefaults()
}

// Limits limit what the API manages in one namespace. A zero value is no limit.
type Limits struct {
	// The most pods.
	Pods int `json:"pods,omitempty"`
	// The most GPUs.
	GPUs int `json:"gpus,omitempty"`
}

// Size is how many pods and GPUs stock pools can have.
type Size struct {
	Pods int `json:"pods"`
	GPUs int `json:"gpus"`
}

// String describes the size for people.
func (s Size) String() string {
	return wording.Count(s.Pods, "pod") + " with " + wording.Count(s.GPUs, "GPU")
}

// SizeOf returns the size of a stock pool at its largest.
func SizeOf(d stockpool.Declaration) Size {
	pods := d.Replicas
	if d.ReplicasPolicy == stockpool.ReplicasAvailable {
		pods = max(d.Maximum, d.Replicas)
	}
	return Size{Pods: pods, GPUs: pods * d.GPU}
}

// Plus returns the sum of two sizes.
func (s Size) Plus(more Size) Size { return Size{s.Pods + more.Pods, s.GPUs + more.GPUs} }

// Check returns a *LimitError if a stock pool in a namespace exceeds the limits, in addition to
// those that exist.
func (l Limits) Check(namespace string, existing, requested Size) error {
	all := existing.Plus(requested)
	if (l.Pods == 0 || all.Pods <= l.Pods) && (l.GPUs == 0 || all.GPUs <= l.GPUs) {
		return nil
	}
	return &LimitError{Namespace: namespace, Limits: l, Existing: existing, Requested: requested}
}
