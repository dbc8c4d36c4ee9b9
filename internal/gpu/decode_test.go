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
	pod, err := gpu.DecodePod([]byte(`{"metadata":{"labels":{"commit":"7e1234567"}},"spec":{"containers":[{"env":[{"name":"LIMITS","value":"1e-100000000"}]}]}}`))
	if err != nil || pod.Labels["commit"] != "7e1234567" {
		t.Errorf("texts that look like quantities: %v", err)
	}
}

func TestDecodeSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for data, want := range map[string]string{
		`{"metadata":{"creationTimestamp":"yesterday"}}`:                                 "yesterday",
		`{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"many"}}}]}}`: "quantities must match",
		`{"spec":{"containers":{}}}`:                                                     "containers",
		`{"spec":`:                                                                       "unexpected end",
		`{"spec":{"containers":[{"resources":{"requests":{"nvidia.com/gpu":"1e100000000"}}}]`: "unexpected EOF",
	} {
		if _, err := gpu.DecodePod([]byte(data)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: the error is %v, want one with %q", data, err, want)
		}
	}
}
