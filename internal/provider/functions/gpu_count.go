// Package functions has the provider's functions: plain, exact arithmetic on GPUs and
// hours for configurations. They make no calls.
package functions

import (
	"context"
	"fmt"
	"maps"
	"math/big"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
)

var _ function.Function = gpuCount{}

type gpuCount struct{}

// NewGPUCount returns the function gpu_count.
func NewGPUCount() function.Function { return gpuCount{} }

func (gpuCount) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "gpu_count"
}

func (gpuCount) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "GPUs that a pod's resource limits amount to",
		MarkdownDescription: "Counts the GPUs in a pod's resource limits as a budget counts them: whole ones, MIG slices, and shares by qGPU or HAMi. " +
			"Other resources, such as `cpu`, count nothing. " +
			"Returns the shortest exact decimal with at most three decimal places, or else a fraction: `\"2\"`, `\"0.5\"`, `\"1/7\"`. The " +
			"function `gpu_hours` accepts both.\n\n" +
			"A budget also uses the labels of the pod's node, which report time-slicing, and MIG behind `nvidia.com/gpu`. This function has no node: " +
			"pass weights if they matter. [How usage is counted](../guides/how-usage-is-counted.md#gpus-per-pod) lists the value of each " +
			"resource.",
		Parameters: []function.Parameter{
			function.MapParameter{
				Name: "resources", ElementType: types.StringType,
				MarkdownDescription: "Quantities by resource, as in `resources.limits` of a container: `{ \"nvidia.com/gpu\" = 2 }`. For a pod " +
					"with several containers, pass their sum.",
			},
		},
		VariadicParameter: function.MapParameter{
			Name: "resource_weights", ElementType: types.StringType,
			MarkdownDescription: "GPUs of one unit of each resource, as in the argument `resource_weights` of a budget: `{ \"nvidia.com/gpu\" = " +
				"\"1/4\" }`. They override and extend the defaults. The last map with a resource takes precedence.",
		},
		Return: function.StringReturn{},
	}
}

func (gpuCount) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var resources types.Map
	var weights []types.Map
	resp.Error = function.ConcatFuncErrors(req.Arguments.Get(ctx, &resources, &weights))
	if resp.Error != nil {
		return
	}
	table, err := parseWeights(weights)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(1, err.Error())
		return
	}
	limits, err := parseLimits(table, resources)
	if err != nil {
		resp.Error = function.NewArgumentFuncError(0, err.Error())
		return
	}
	resp.Error = function.ConcatFuncErrors(resp.Result.Set(ctx, budget.GPUs(count(table, limits))))
}

// parseWeights merges weights; of several for a resource, the last counts.
func parseWeights(weights []types.Map) (*gpu.Table, error) {
	rules := gpu.Rules{Weights: map[string]string{}}
	for _, w := range weights {
		if err := refuseNull(w); err != nil {
			return nil, err
		}
		maps.Copy(rules.Weights, values.TextMap(w))
	}
	return rules.Table()
}

// parseLimits reads quantities, and refuses those of GPUs that no pod can have.
func parseLimits(table *gpu.Table, resources types.Map) (corev1.ResourceList, error) {
	if err := refuseNull(resources); err != nil {
		return nil, err
	}
	limits := corev1.ResourceList{}
	texts := values.TextMap(resources)
	for _, name := range slices.Sorted(maps.Keys(texts)) {
		quantity, err := resource.ParseQuantity(texts[name])
		switch {
		case err != nil:
			return nil, fmt.Errorf("%q of %s is not a Kubernetes quantity: use one such as 2", texts[name], name)
		case quantity.Sign() < 0:
			return nil, fmt.Errorf("%q of %s is negative", texts[name], name)
		}
		if _, whole := quantity.AsInt64(); !whole && table.Counts(name) {
			return nil, fmt.Errorf("%q of %s is not a whole number: Kubernetes only assigns whole units", texts[name], name)
		}
		if table.Counts(name) && quantity.CmpInt64(gpu.MostGPUs) > 0 && count(table, corev1.ResourceList{corev1.ResourceName(name): quantity}).Sign() == 0 {
			return nil, fmt.Errorf("%q of %s is more than the %d GPUs that any pod can hold, and would count as none", texts[name], name, gpu.MostGPUs)
		}
		limits[corev1.ResourceName(name)] = quantity
	}
	return limits, nil
}

// refuseNull names the first element that is null.
func refuseNull(m types.Map) error {
	elements := m.Elements()
	for _, name := range slices.Sorted(maps.Keys(elements)) {
		if elements[name].IsNull() {
			return fmt.Errorf("the value of %s is null: write one, or leave it out", name)
		}
	}
	return nil
}

// count is how many GPUs a pod with these limits holds, by the accounting's own
// rules.
func count(table *gpu.Table, limits corev1.ResourceList) *big.Rat {
	pod := &corev1.Pod{Spec: corev1.PodSpec{
		NodeName:   "any",
		Containers: []corev1.Container{{Name: "main", Resources: corev1.ResourceRequirements{Limits: limits}}},
	}}
	total := new(big.Rat)
	for _, share := range table.Observe(pod, gpu.World{}).Shares {
		total.Add(total, new(big.Rat).Mul(share.Units, share.Weight))
	}
	return total
}
