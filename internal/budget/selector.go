package budget

import (
	"encoding/json"
	"fmt"
	"slices"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/selection"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// operators are those of Kubernetes' label selectors, by what expressions call them.
var operators = map[string]selection.Operator{
	"In": selection.In, "NotIn": selection.NotIn, "Exists": selection.Exists, "DoesNotExist": selection.DoesNotExist,
}

// operatorNames are what expressions call the operators that ParseSelector reads.
var operatorNames = map[selection.Operator]string{
	selection.Equals: "In", selection.DoubleEquals: "In", selection.In: "In", selection.NotIn: "NotIn", selection.NotEquals: "NotIn",
	selection.Exists: "Exists", selection.DoesNotExist: "DoesNotExist",
}

// Empty reports whether nothing is selected by: that would be every pod.
func (s Selector) Empty() bool {
	return len(s.Namespaces) == 0 && len(s.NamespaceLabels) == 0 && len(s.MatchLabels) == 0 && len(s.MatchExpressions) == 0
}

// Unbounded reports whether pods of any namespace may be covered. Everyone who may label pods then chooses
// which pods the budget pays for.
func (s Selector) Unbounded() bool { return len(s.Namespaces) == 0 && len(s.NamespaceLabels) == 0 }

// Shares reports whether pods of several namespaces that are named, or that labels
// choose, may be covered: what one uses is missing to the others.
func (s Selector) Shares() bool {
	if len(s.Namespaces) > 0 {
		return len(distinct(s.Namespaces)) > 1
	}
	return len(s.NamespaceLabels) > 0
}

// AsksFor reports whether a label of pods decides whether they are covered.
func (s Selector) AsksFor(key string) bool {
	_, matched := s.MatchLabels[key]
	return matched || slices.ContainsFunc(s.MatchExpressions, func(e Expression) bool { return e.Key == key })
}

// Same reports whether two selectors say the same, in whatever order.
func (s Selector) Same(other Selector) bool { return s.key() == other.key() }

// key is the same for selectors that say the same.
func (s Selector) key() string {
	s.Namespaces = distinct(s.Namespaces)
	expressions := make([]string, 0, len(s.MatchExpressions))
	for _, e := range s.MatchExpressions {
		expressions = append(expressions, fmt.Sprintf("%q %q %q", e.Key, e.Operator, distinct(e.Values)))
	}
	s.MatchExpressions = nil
	text, err := json.Marshal(struct {
		Selector
		Expressions []string
	}{s, distinct(expressions)})
	if err != nil {
		return fmt.Sprintf("%#v", s)
	}
	return string(text)
}

func distinct(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }

// Matcher is a selector made ready to match many pods.
type Matcher struct {
	namespaces      []string // sorted
	namespaceLabels ledger.Labels
	labels          ledger.Labels
	requirements    []labels.Requirement
}

// Matcher makes the selector ready. The error says which expression is not valid.
func (s Selector) Matcher() (*Matcher, error) {
	m := &Matcher{
		namespaces: distinct(s.Namespaces), namespaceLabels: ledger.LabelsOf(s.NamespaceLabels), labels: ledger.LabelsOf(s.MatchLabels),
	}
	for n, e := range s.MatchExpressions {
		requirement, err := e.requirement()
		if err != nil {
			return nil, fmt.Errorf("match_expressions[%d]: %w", n, err)
		}
		m.requirements = append(m.requirements, *requirement)
	}
	return m, nil
}

func (e Expression) requirement() (*labels.Requirement, error) {
	operator, known := operators[e.Operator]
	if !known {
		return nil, fmt.Errorf("%q is no operator: use In, NotIn, Exists or DoesNotExist", e.Operator)
	}
	return labels.NewRequirement(e.Key, operator, e.Values)
}

// Matches reports whether every part of the selector matches. NotIn and
// DoesNotExist match where the label is absent, as Kubernetes has it.
func (m *Matcher) Matches(set *ledger.LabelSet) bool { return m.MatchesLabels(set, set.Labels) }

// MatchesLabels is Matches with the set's labels as Kubernetes has them, which many
// selectors are asked of.
func (m *Matcher) MatchesLabels(set *ledger.LabelSet, of labels.Labels) bool {
	if len(m.namespaces) > 0 {
		if _, found := slices.BinarySearch(m.namespaces, set.Namespace); !found {
			return false
		}
	}
	if !has(set.NamespaceLabels, m.namespaceLabels) || !has(set.Labels, m.labels) {
		return false
	}
	for n := range m.requirements {
		if !m.requirements[n].Matches(of) {
			return false
		}
	}
	return true
}

// Excludes reports whether the selector cannot match pods with these labels and unknown others: controllers
// and admission add some to those of a template.
func (s Selector) Excludes(set *ledger.LabelSet) bool {
	if len(s.Namespaces) > 0 && !slices.Contains(s.Namespaces, set.Namespace) || !has(set.NamespaceLabels, ledger.LabelsOf(s.NamespaceLabels)) {
		return true
	}
	for key, value := range s.MatchLabels {
		if got, there := set.Labels.Lookup(key); there && got != value {
			return true
		}
	}
	for _, e := range s.MatchExpressions {
		if _, there := set.Labels.Lookup(e.Key); !there {
			continue
		}
		if requirement, err := e.requirement(); err == nil && !requirement.Matches(set.Labels) {
			return true
		}
	}
	return false
}

// has reports whether all of some labels are there.
func has(labels, wanted ledger.Labels) bool {
	for _, label := range wanted {
		if got, there := labels.Lookup(label.Key); !there || got != label.Value {
			return false
		}
	}
	return true
}

// ParseSelector reads labels to match as kubectl's --selector has them, such as
// "team=a,tier in (gpu,batch),!debug". Comparisons by size are refused: a freeze
// could not keep them.
func ParseSelector(expression string) (Selector, error) {
	requirements, err := labels.ParseToRequirements(expression)
	if err != nil {
		return Selector{}, fmt.Errorf("%q selects no labels: %w", expression, err)
	}
	var s Selector
	for _, r := range requirements {
		e := Expression{Key: r.Key(), Operator: operatorNames[r.Operator()], Values: r.ValuesUnsorted()}
		slices.Sort(e.Values)
		equal := r.Operator() == selection.Equals || r.Operator() == selection.DoubleEquals
		switch _, twice := s.MatchLabels[e.Key]; {
		case e.Operator == "":
			return Selector{}, fmt.Errorf("%q compares the label %s by size: use =, !=, in, notin or only the key", expression, e.Key)
		case !equal || twice:
			s.MatchExpressions = append(s.MatchExpressions, e)
			continue
		case s.MatchLabels == nil:
			s.MatchLabels = map[string]string{}
		}
		s.MatchLabels[e.Key] = e.Values[0]
	}
	return s, nil
}
