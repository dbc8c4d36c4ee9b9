package functions_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/functions"
)

func mapOf(m map[string]string) attr.Value {
	all := map[string]attr.Value{}
	for name, s := range m {
		all[name] = types.StringValue(s)
	}
	return types.MapValueMust(types.StringType, all)
}

func countOf(t *testing.T, resources, weights map[string]string) (string, string) {
	t.Helper()
	of := types.MapType{ElemType: types.StringType}
	variadic := types.TupleValueMust([]attr.Type{}, []attr.Value{})
	if weights != nil {
		variadic = types.TupleValueMust([]attr.Type{of}, []attr.Value{mapOf(weights)})
	}
	return call(t, functions.NewGPUCount(), mapOf(resources), variadic)
}

func TestGPUCount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resources, weights map[string]string
		want               string
	}{
		{nil, nil, "0"},
		{map[string]string{"cpu": "500m", "memory": "1Gi"}, nil, "0"},
		{map[string]string{"nvidia.com/gpu": "2", "cpu": "8"}, nil, "2"},
		{map[string]string{"nvidia.com/mig-1g.5gb": "1"}, nil, "1/7"},
		{map[string]string{"nvidia.com/mig-1g.5gb": "7"}, nil, "1"},
		{map[string]string{"nvidia.com/mig-3g.20gb": "1", "nvidia.com/gpu": "1"}, nil, "10/7"},
		{map[string]string{"tke.cloud.tencent.com/qgpu-core": "25", "tke.cloud.tencent.com/qgpu-memory": "4"}, nil, "0.25"},
		{map[string]string{"amd.com/gpu": "4"}, nil, "4"},
		{map[string]string{"nvidia.com/gpu": "3"}, map[string]string{"nvidia.com/gpu": "1/4"}, "0.75"},
		{map[string]string{"example.com/gpu": "2"}, map[string]string{"example.com/gpu": "0.5"}, "1"},
		{map[string]string{"nvidia.com/gpu": "2"}, map[string]string{"nvidia.com/gpu": "0"}, "0"},
		// As long as a budget takes it.
		{map[string]string{"example.com/slice": "1"}, map[string]string{"example.com/slice": "1/12345678"}, "1/12345678"},
	} {
		if got, err := countOf(t, test.resources, test.weights); err != "" || got != test.want {
			t.Errorf("%v with the weights %v are %q GPUs, not %q %s", test.resources, test.weights, got, test.want, err)
		}
	}
}

func TestGPUCountOfNonsense(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		resources, weights map[string]string
		why                string
	}{
		{map[string]string{"nvidia.com/gpu": "two"}, nil, `"two" of nvidia.com/gpu is not a Kubernetes quantity`},
		{map[string]string{"nvidia.com/gpu": "-1"}, nil, `"-1" of nvidia.com/gpu is negative`},
		{map[string]string{"nvidia.com/gpu": "500m"}, nil, `"500m" of nvidia.com/gpu is not a whole number`},
		{map[string]string{"nvidia.com/gpu": "10001"}, nil, `"10001" of nvidia.com/gpu is more than the 10000 GPUs`},
		{map[string]string{"nvidia.com/gpu": "1"}, map[string]string{"nvidia.com/gpu": "1/0"}, "division by zero"},
		{map[string]string{"nvidia.com/gpu": "1"}, map[string]string{"nvidia com": "1"}, "invalid resource name"},
	} {
		if got, err := countOf(t, test.resources, test.weights); !strings.Contains(err, test.why) {
			t.Errorf("%v with the weights %v are %q, and not refused with %q: %s", test.resources, test.weights, got, test.why, err)
		}
	}
}
