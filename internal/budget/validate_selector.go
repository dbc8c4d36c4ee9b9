package budget

import (
	"fmt"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func (v *validator) selector() {
	s := v.d.Selector
	if s.Empty() {
		v.Add("selector", reason.EmptySelector())
	}
	for n, namespace := range s.Namespaces {
		at := fmt.Sprintf("selector.namespaces[%d]", n)
		v.namespace(at, namespace)
		v.once(at, s.Namespaces, n)
	}
	v.labels("selector.namespace_labels", s.NamespaceLabels)
	v.labels("selector.match_labels", s.MatchLabels)
	for n, e := range s.MatchExpressions {
		v.expression(fmt.Sprintf("selector.match_expressions[%d]", n), e)
	}
}

func (v *validator) namespace(attribute, namespace string) {
	if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
		v.Add(attribute, reason.NamespaceName(reason.Quoted(namespace), reason.NewForeign(wrong[0])))
	}
}

func (v *validator) labels(attribute string, labels map[string]string) {
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		at := fmt.Sprintf("%s[%q]", attribute, key)
		v.labelKey(at, key)
		v.labelValue(at, labels[key])
	}
}

func (v *validator) labelKey(attribute, key string) {
	if wrong := validation.IsQualifiedName(key); len(wrong) > 0 {
		v.Add(attribute, reason.LabelKey(reason.Quoted(key), reason.NewForeign(wrong[0])))
	}
}

func (v *validator) labelValue(attribute, value string) {
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
		v.Add(attribute, reason.LabelValue(reason.Quoted(value), reason.NewForeign(wrong[0])))
	}
}

func (v *validator) expression(at string, e Expression) {
	before := len(v.List)
	v.labelKey(at+".key", e.Key)
	for n, value := range e.Values {
		valueAt := fmt.Sprintf("%s.values[%d]", at, n)
		v.labelValue(valueAt, value)
		v.once(valueAt, e.Values, n)
	}
	switch e.Operator {
	case "In", "NotIn":
		if len(e.Values) == 0 {
			v.Add(at+".values", reason.OperatorNoValues(reason.Word(e.Operator)))
		}
	case "Exists", "DoesNotExist":
		if len(e.Values) > 0 {
			v.Add(at+".values", reason.OperatorValues(reason.Word(e.Operator)))
		}
	default:
		problem.OneOf(&v.List, at+".operator", e.Operator, slices.Sorted(maps.Keys(operators))...)
	}
	// Kubernetes may be stricter in the future.
	if len(v.List) == before {
		if _, err := e.requirement(); err != nil {
			v.Add(at, reason.InvalidExpression(reason.Failure(err)))
		}
	}
}
