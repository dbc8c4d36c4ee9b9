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
		v.add("selector", "Name namespaces or labels: a selector without any would take in every pod of the cluster.", "the selector is empty")
	}
	for n, namespace := range s.Namespaces {
		at := fmt.Sprintf("selector.namespaces[%d]", n)
		v.namespace(at, namespace)
		if slices.Index(s.Namespaces, namespace) < n {
			v.add(at, "Leave one of them out.", "%q is there already", namespace)
		}
	}
	v.labels("selector.namespace_labels", s.NamespaceLabels)
	v.labels("selector.match_labels", s.MatchLabels)
	for n, e := range s.MatchExpressions {
		v.expression(fmt.Sprintf("selector.match_expressions[%d]", n), e)
	}
}

func (v *validator) namespace(attribute, namespace string) {
	if wrong := validation.IsDNS1123Label(namespace); len(wrong) > 0 {
		v.add(attribute, "Write it as \"kubectl get namespaces\" does.", "%q is no name of a namespace: %s", namespace, wrong[0])
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
		v.add(attribute, "Write it as Kubernetes does, such as \"team\" or \"example.com/team\".", "%q is no key of a label: %s", key, wrong[0])
	}
}

func (v *validator) labelValue(attribute, value string) {
	if wrong := validation.IsValidLabelValue(value); len(wrong) > 0 {
		v.add(attribute, "Use at most 63 letters, digits, \"-\", \"_\" and \".\", with a letter or digit first and last.", "%q is no value of a label: %s", value, wrong[0])
	}
}

func (v *validator) expression(at string, e Expression) {
	before := len(v.problems)
	v.labelKey(at+".key", e.Key)
	for n, value := range e.Values {
		v.labelValue(fmt.Sprintf("%s.values[%d]", at, n), value)
	}
	switch e.Operator {
	case "In", "NotIn":
		if len(e.Values) == 0 {
			v.add(at+".values", "List at least one value, or use Exists or DoesNotExist.", "the operator %s has no values", e.Operator)
		}
	case "Exists", "DoesNotExist":
		if len(e.Values) > 0 {
			v.add(at+".values", "Leave the values out, or use In or NotIn.", "the operator %s takes no values", e.Operator)
		}
	default:
		known := slices.Sorted(maps.Keys(operators))
		v.add(at+".operator", "Choose one of "+strings.Join(known, ", ")+".", "%q is not known", e.Operator)
	}
	// What is left is Kubernetes' own judgement, should it ever be stricter.
	if len(v.problems) == before {
		if _, err := e.requirement(); err != nil {
			v.add(at, "Write it as a label selector of Kubernetes.", "%v", err)
		}
	}
}
