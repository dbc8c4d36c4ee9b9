package budget

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	core "github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/attribute"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
)

// selector is which pods' GPU-hours count.
type selector struct {
	Selector types.Object `tfsdk:"selector"`
}

func (s *selector) transfer(x *attribute.Transfer, d *core.Declaration) {
	attribute.Object(x, &s.Selector, selectorTypes, &d.Selector, selectorFields)
}

var selectorTypes = attribute.Types(selectorAttributes())

func selectorFields(x *attribute.Transfer, f *attribute.Fields, s *core.Selector) {
	attribute.Members(x, f.List("namespaces"), &s.Namespaces)
	attribute.TextMap(x, f.Map("namespace_labels"), &s.NamespaceLabels, attribute.Exactly)
	attribute.TextMap(x, f.Map("match_labels"), &s.MatchLabels, attribute.Exactly)
	attribute.Objects(x, path.Root("selector").AtName("match_expressions"), f.List("match_expressions"), expressionTypes, &s.MatchExpressions, sameExpressions,
		expressionFields)
}

var expressionTypes = attribute.Types(expressionAttributes())

func expressionFields(x *attribute.Transfer, _ path.Path, f *attribute.Fields, e *core.Expression) {
	attribute.Text(x, f.Text("key"), &e.Key)
	attribute.Text(x, f.Text("operator"), &e.Operator)
	attribute.Members(x, f.List("values"), &e.Values)
}

// sameExpressions compares expressions, whatever the order of their values.
func sameExpressions(a, b []core.Expression) bool {
	return slices.EqualFunc(a, b, func(a, b core.Expression) bool {
		return a.Key == b.Key && a.Operator == b.Operator && attribute.SameMembers(a.Values, b.Values)
	})
}

func selectorAttribute() schema.Attribute {
	return kit.Object(kit.Required, "Whose GPU-hours count. Every part that is given must match, and at least one must be given. A pod's labels are taken as "+
		"they were when it was bound to its node, and its namespace's as they were first seen: relabeling does not move what was used.", selectorAttributes())
}

func selectorAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"namespaces":       kit.Texts(kit.Optional, "Names of namespaces, in one of which the pod is."),
		"namespace_labels": kit.TextMap(kit.Optional, "Labels that the pod's namespace has, all of them."),
		"match_labels":     kit.TextMap(kit.Optional, "Labels that the pod has, all of them."),
		"match_expressions": kit.Objects(kit.Optional, "Requirements on the pod's labels, all of which are met, as in a label selector of "+
			"Kubernetes.", expressionAttributes()),
	}
}

func expressionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"key":      kit.Text(kit.Required, "Key of the label."),
		"operator": kit.Text(kit.Required, "`In`, `NotIn`, `Exists` or `DoesNotExist`. The negative ones also match pods that lack the label."),
		"values":   kit.Texts(kit.Optional, "Values of the label, for `In` and `NotIn`."),
	}
}
