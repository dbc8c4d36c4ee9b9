package budget

import (
	"math/big"
	"strings"
	"unicode"

	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// MachineWeight is what the budget multiplies the GPUs of a machine by that is no
// node yet, by the names that the cloud gives its GPU and its type. As for nodes,
// the GPU's model goes before the instance type. Nodes have longer names for a
// model ("Tesla-T4" for "T4"): of several weights that may be its node's, it is
// the largest.
func (d Declaration) MachineWeight(gpuType, instanceType string) *big.Rat {
	var most *big.Rat
	for model, text := range d.ModelWeights {
		if !namesModel(model, gpuType) {
			continue
		}
		if worth, err := weight.Parse(text); err == nil && (most == nil || worth.Cmp(most) > 0) {
			most = worth
		}
	}
	if most != nil {
		return most
	}
	if worth, err := weight.Parse(d.ModelWeights[instanceType]); err == nil {
		return worth
	}
	return big.NewRat(1, 1)
}

// namesModel says whether a node's name of a GPU model has the cloud's among its words.
func namesModel(model, gpuType string) bool {
	if gpuType == "" {
		return false
	}
	words := strings.FieldsFunc(model, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	for _, word := range words {
		if strings.EqualFold(word, gpuType) {
			return true
		}
	}
	return strings.EqualFold(model, gpuType) // of several words
}
