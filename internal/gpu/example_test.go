package gpu_test

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

// A pod's requests are converted to GPUs by the weights of its resources.
func ExampleTable() {
	table, err := gpu.Rules{Weights: map[string]string{"nvidia.com/mig-1g.10gb": "1/7"}}.Table()
	if err != nil {
		fmt.Println(err)
		return
	}
	pod := func(resources ...corev1.ResourceName) *corev1.Pod {
		requests := corev1.ResourceList{}
		for _, name := range resources {
			requests[name] = resource.MustParse("1")
		}
		return &corev1.Pod{Spec: corev1.PodSpec{Containers: []corev1.Container{{Resources: corev1.ResourceRequirements{Requests: requests, Limits: requests}}}}}
	}
	fmt.Println(table.MayHold(pod("nvidia.com/gpu")), table.MayHold(pod("nvidia.com/mig-1g.10gb")), table.MayHold(pod("cpu")))
	// Output: true true false
}
