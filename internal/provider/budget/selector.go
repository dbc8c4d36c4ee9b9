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

// sameExpressions compares expressions. The order of their values does not matter.
func sameExpressions(a, b []core.Expression) bool {
	return slices.EqualFunc(a, b, func(a, b core.Expression) bool {
		return a.Key == b.Key && a.Operator == b.Operator && attribute.SameMembers(a.Values, b.Values)
	})
}

func selectorAttribute() schema.Attribute {
	return kit.Object(kit.Required, "Pods whose GPU-hours count. A pod must match all given arguments, and at least one is required. The labels of a pod are "+
		"those at its binding to a node. The labels of its namespace are those at the first observation. Later label changes do not move past usage.",
		selectorAttributes())
}

func selectorAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"namespaces":       kit.Texts(kit.Optional, "Names of namespaces. The pod is in one of them."),
		"namespace_labels": kit.TextMap(kit.Optional, "Labels of the pod's namespace. It has all of them."),
		"match_labels":     kit.TextMap(kit.Optional, "Labels of the pod. It has all of them."),
		"match_expressions": kit.Objects(kit.Optional, "Requirements on the pod's labels, as in a Kubernetes label selector. The pod meets all of them.",
			expressionAttributes()),
	}
}

func expressionAttributes() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"key":      kit.Text(kit.Required, "Key of the label."),
		"operator": kit.Text(kit.Required, "`In`, `NotIn`, `Exists` or `DoesNotExist`. `NotIn` and `DoesNotExist` also match pods without the label."),
		"values":   kit.Texts(kit.Optional, "Values of the label, for `In` and `NotIn`."),
	}
}
