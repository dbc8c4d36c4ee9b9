package budget

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
)

func (v *validator) selector() {
	s := v.d.Selector
	if s.Empty() {
		v.Add("selector", "Name namespaces or labels: a selector without any would take in every pod of the cluster.", "the selector is empty")
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
		v.Add(attribute, "Write it as \"kubectl get namespaces\" does.", "invalid namespace name %q: %s", namespace, wrong[0])
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
		v.Add(attribute, "Write it as Kubernetes does, such as \"team\" or \"example.com/team\".", "invalid label key %q: %s", key, wrong[0])
	}
}

func (v *validator) labelValue(attribute, value string) {
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
		v.Add(attribute, "Use at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit first and last.", "invalid label value %q: %s",
			value, wrong[0])
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
			v.Add(at+".values", "List at least one value, or use Exists or DoesNotExist.", "the operator %s has no values", e.Operator)
		}
	case "Exists", "DoesNotExist":
		if len(e.Values) > 0 {
			v.Add(at+".values", "Leave the values out, or use In or NotIn.", "the operator %s takes no values", e.Operator)
		}
	default:
		known := slices.Sorted(maps.Keys(operators))
		v.Add(at+".operator", "Choose one of "+strings.Join(known, ", ")+".", "%q is not known", e.Operator)
	}
	// Kubernetes may be stricter in the future.
	if len(v.List) == before {
		if _, err := e.requirement(); err != nil {
			v.Add(at, "Write it as a label selector of Kubernetes.", "%v", err)
		}
	}
}
