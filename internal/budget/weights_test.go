package budget_test

import (
	"math/big"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

func TestMachinesAreWeighedAsTheirNodesWillBe(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name              string
		weights           map[string]string
		gpu, instanceType string
		want              *big.Rat
	}{
		{"nothing is listed", nil, "T4", "GN7.2XLARGE32", big.NewRat(1, 1)},
		{"a node's name of the model", map[string]string{"Tesla-T4": "0.5"}, "T4", "GN7.2XLARGE32", big.NewRat(1, 2)},
		{"the cloud's name of the model", map[string]string{"T4": "0.5"}, "T4", "GN7.2XLARGE32", big.NewRat(1, 2)},
		{"the instance type", map[string]string{"GN7.2XLARGE32": "2"}, "T4", "GN7.2XLARGE32", big.NewRat(2, 1)},
		{"the model goes first", map[string]string{"GN7.2XLARGE32": "2", "Tesla-T4": "0.5"}, "T4", "GN7.2XLARGE32", big.NewRat(1, 2)},
		{"also where it is worth nothing", map[string]string{"GN7.2XLARGE32": "2", "Tesla-T4": "0"}, "T4", "GN7.2XLARGE32", new(big.Rat)},
		{"another model", map[string]string{"NVIDIA-A100-SXM4-40GB": "4"}, "A10", "PNV4.7XLARGE116", big.NewRat(1, 1)},
		{"one of two names", map[string]string{"NVIDIA-A100-SXM4-40GB": "4", "NVIDIA-A100-SXM4-80GB": "6"}, "A100", "GT4.4XLARGE96", big.NewRat(6, 1)},
		{"a GPU that is not known", map[string]string{"Tesla-T4": "0.5"}, "", "GN99.LARGE", big.NewRat(1, 1)},
	} {
		d := budget.Declaration{ModelWeights: test.weights}
		if got := d.MachineWeight(test.gpu, test.instanceType); got.Cmp(test.want) != 0 {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}
