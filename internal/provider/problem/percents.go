package problem

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Percents adds the elements of a list of numbers that are not whole: a declaration cannot contain
// them.
func Percents(problems *List, attribute string, list types.List, why func(reason.Value) reason.Reason) {
	for n, element := range list.Elements() {
		percent, _ := element.(types.Number)
		if _, whole := values.Whole(percent); !whole {
			problems.Add(fmt.Sprintf("%s[%d]", attribute, n), why(reason.NewValue(values.Digits(percent))))
		}
	}
}
