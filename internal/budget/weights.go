package budget

import (
	"math/big"
	"strings"
	"unicode"

	"github.com/gpupool/terraform-provider-gpupool/internal/weight"
)

// MachineWeight is the weight of an instance's GPUs before it is a node, by Tencent Cloud's names of
// its GPU and its type. As for nodes, the GPU's model comes before the instance type. Nodes have longer names
// for a model, such as "Tesla-T4" for "T4". Of several weights that may apply, it is the largest.
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

// namesModel reports whether a node's name of a GPU model contains Tencent Cloud's name as a word.
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
