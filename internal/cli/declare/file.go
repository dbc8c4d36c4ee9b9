package declare

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/yaml"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// defaultWindow is the window of a budget without a window and a period.
const defaultWindow = "7d"

// sizeAtMost is the largest file.
const sizeAtMost = 1 << 20

// file has the names of Kubernetes and of the chart's values, not those of Terraform.
type file struct {
	Budgets map[string]spec `json:"budgets"`
}

type spec struct {
	GPUHours   hours         `json:"gpuHours"`
	Window     string        `json:"window"`
	Period     budget.Period `json:"period"`
	TimeZone   string        `json:"timeZone"`
	Thresholds []int         `json:"thresholds"`
	Selector   struct {
		Namespaces       []string            `json:"namespaces"`
		NamespaceLabels  map[string]string   `json:"namespaceLabels"`
		MatchLabels      map[string]string   `json:"matchLabels"`
		MatchExpressions []budget.Expression `json:"matchExpressions"`
	} `json:"selector"`
}

// hours is a decimal, as a number or a string.
type hours string

// UnmarshalJSON reads both forms.
func (h *hours) UnmarshalJSON(data []byte) error {
	if bytes.HasPrefix(data, []byte(`"`)) {
		return json.Unmarshal(data, (*string)(h))
	}
	var number json.Number
	if err := json.Unmarshal(data, &number); err != nil {
		return errors.New("gpuHours is not a number")
	}
	*h = hours(number)
	return nil
}

// Parse reads the budgets of a file, by name. It refuses unknown fields.
func Parse(data []byte) ([]budget.Declaration, error) {
	if len(data) > sizeAtMost {
		return nil, fmt.Errorf("the file is larger than %d bytes", sizeAtMost)
	}
	var f file
	if err := yaml.UnmarshalStrict(data, &f, func(d *json.Decoder) *json.Decoder { d.UseNumber(); return d }); err != nil {
		return nil, err
	}
	if f.Budgets == nil {
		return nil, errors.New("the file has no budgets: use budgets: {} for none")
	}
	list := make([]budget.Declaration, 0, len(f.Budgets))
	for _, name := range slices.Sorted(maps.Keys(f.Budgets)) {
		list = append(list, f.Budgets[name].declaration(name))
	}
	return list, nil
}

func (s spec) declaration(name string) budget.Declaration {
	d := budget.Declaration{
		Name: name, GPUHours: string(s.GPUHours), Window: s.Window, Period: s.Period, TimeZone: s.TimeZone, Thresholds: s.Thresholds,
		Selector: budget.Selector{
			Namespaces: s.Selector.Namespaces, NamespaceLabels: s.Selector.NamespaceLabels, MatchLabels: s.Selector.MatchLabels,
			MatchExpressions: s.Selector.MatchExpressions,
		},
	}
	if d.Window == "" && d.Period == "" {
		d.Window = defaultWindow
	}
	return d.WithDefaults()
}
