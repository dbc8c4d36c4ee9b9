package gpu_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestBoundlessQuantitiesAreRefused(t *testing.T) {
	t.Parallel()
	for _, data := range []string{
		`{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1e-100000000"}}}]}}`,
		`{"spec":{"containers":[{"resources":{"limits":{"cpu":1e-100000000}}}]}}`,
		`{"Spec":{"InitContainers":[{"Resources":{"Requests":{"cpu":"1E-100000000"}}}]}}`,
		`{"spec":{"overhead":{"cpu":"0.1e-100000000"}}}`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"1e-100000000"}}]}}`,
		`{"status":{"containerStatuses":[{"allocatedResources":{"cpu":"1e-100000000"}}]}}`,
	} {
		if _, err := gpu.DecodePod([]byte(data)); err == nil || !strings.Contains(err.Error(), "out of range") {
			t.Errorf("%s: the error is %v", data, err)
		}
	}
	pod,
		err := gpu.DecodePod(
		[]byte(`{"metadata":{"labels":{"commit":"7e1234567"}},"spec":{"containers":[{"env":[{"name":"LIMITS","value":"1e-100000000"}]}]}}`),
	)
	if err != nil || pod.Labels["commit"] != "7e1234567" {
		t.Errorf("texts that look like quantities: %v", err)
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"metadata":{"labels":{"time":"noon"},"creationTimestamp":"yesterday"}}`:          `its metadata.creationTimestamp is the invalid time "yesterday"`,
		`{"spec":{"containers":[{},{"resources":{"requests":{"nvidia.com/gpu":"abc"}}}]}}`: `its spec.containers[1].resources.requests["nvidia.com/gpu"] is the invalid quantity "abc"`,
		`{"spec":{"initContainers":[{"Resources":{"limits":{"memory":"` + long + `"}}}]}}`: `its spec.initContainers[0].Resources.limits.memory is the invalid quantity "` +
			long[:77] + `...", not such as`,
		`{"spec":{"overhead":{"cpu":{"milli":5}}}}`:                                             `its spec.overhead.cpu is the invalid quantity "map[milli:5]"`,
		`{"spec":{"volumes":[{"emptyDir":{"sizeLimit":"big"}}]}}`:                               `its spec.volumes[0].emptyDir.sizeLimit is the invalid quantity "big"`,
		`{"status":{"containerStatuses":[{"state":{"terminated":{"finishedAt":17}}}]}}`:         `its status.containerStatuses[0].state.terminated.finishedAt is the invalid time "17"`,
		`{"metadata":{"managedFields":[{"time":"soon"}]},"spec":{"resources":{"claims":[{}]}}}`: `its metadata.managedFields[0].time is the invalid time "soon"`,
		`{"spec":{"containers":{}}}`:                                                            "its spec.containers must not be a JSON object",
		`{"spec":`:                                                                              "unexpected end",
		`{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1e100000000"}}}]`:   "unexpected EOF",
	} {
		if _, err := gpu.DecodePod([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", data, err, want)
		}
	}
	want := `its status.allocatable["nvidia.com/gpu"] is the invalid quantity "eight", not such as 1, 500m or 16Gi: correct it, or leave the object out of the list`
	if _, err := gpu.DecodeNode([]byte(`{"status":{"allocatable":{"nvidia.com/gpu":"eight"}}}`)); err == nil || err.Error() != want {
		t.Errorf("a node: the error is %v, want %s", err, want)
	}
}

var long = strings.Repeat("1", 90) + "x"
