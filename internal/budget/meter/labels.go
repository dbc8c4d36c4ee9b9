package meter

import (
	"slices"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// labelSet is the pods that no budget tells apart, by one of their label sets.
type labelSet struct {
	*ledger.LabelSet
	accounts  []*account // of the budgets that select it
	count     int        // of its records
	intervals []interval
	used      bool // any of them is in the window of any of its budgets
}

// labelSets finds the set of each record. Each Job gives its pods labels of their own, so only the labels
// that selectors and breakdowns need distinguish sets.
type labelSets struct {
	accounts []*account
	// asked are the values that selectors name, by the label's key, and namespaceAsked
	// those of namespaces' labels. All other values of such a label are alike: it
	// matters only that it is there.
	asked, namespaceAsked map[string]map[string]bool
	breakdowns            []string

	known    map[*ledger.LabelSet]*labelSet
	byText   map[string]*labelSet
	selected map[string][]*account // by the text that selectors see
	text     []byte
}

func newLabelSets() *labelSets {
	return &labelSets{
		asked: map[string]map[string]bool{}, namespaceAsked: map[string]map[string]bool{},
		known: map[*ledger.LabelSet]*labelSet{}, byText: map[string]*labelSet{}, selected: map[string][]*account{},
	}
}

// add takes up who asks for labels, before any record.
func (l *labelSets) add(a *account, d budget.Declaration) {
	l.accounts = append(l.accounts, a)
	ask := func(of map[string]map[string]bool, key string, values ...string) {
		if of[key] == nil {
			of[key] = map[string]bool{}
		}
		for _, value := range values {
			of[key][value] = true
		}
	}
	for key, value := range d.Selector.MatchLabels {
		ask(l.asked, key, value)
	}
	for _, e := range d.Selector.MatchExpressions {
		ask(l.asked, e.Key, e.Values...)
	}
	for key, value := range d.Selector.NamespaceLabels {
		ask(l.namespaceAsked, key, value)
	}
	l.breakdowns = slices.Compact(slices.Sorted(slices.Values(append(l.breakdowns, d.BreakdownLabels...))))
}

var noLabels = &ledger.LabelSet{}

func setOf(r *ledger.Record) *ledger.LabelSet {
	if r.Set == nil {
		return noLabels
	}
	return r.Set
}

// recordSet returns the set of a record. Records with the same labels share one.
func (l *labelSets) recordSet(r *ledger.Record) *labelSet {
	set := setOf(r)
	s, known := l.known[set]
	if !known {
		s = l.find(set)
		l.known[set] = s
	}
	return s
}

func (l *labelSets) find(set *ledger.LabelSet) *labelSet {
	l.text = append(append(l.text[:0], set.Namespace...), 0)
	l.write(set.NamespaceLabels, l.namespaceAsked)
	l.write(set.Labels, l.asked)
	accounts, known := l.selected[string(l.text)]
	if !known {
		accounts = l.selecting(set)
		l.selected[string(l.text)] = accounts
	}
	for _, key := range l.breakdowns {
		l.text = append(append(l.text, set.Labels.Get(key)...), 0)
	}
	s, known := l.byText[string(l.text)]
	if !known {
		s = &labelSet{LabelSet: set, accounts: accounts}
		for _, a := range accounts {
			a.sets = append(a.sets, s)
		}
		l.byText[string(l.text)] = s
	}
	return s
}

// write writes what selectors see of labels.
func (l *labelSets) write(labels ledger.Labels, asked map[string]map[string]bool) {
	for _, label := range labels {
		values, seen := asked[label.Key]
		if !seen {
			continue
		}
		l.text = append(append(l.text, label.Key...), 0)
		if values[label.Value] {
			l.text = append(append(l.text, label.Value...), 0)
		}
		l.text = append(l.text, 0)
	}
	l.text = append(l.text, 0)
}

// selecting are the accounts of who selects a label set, those with the same rules
// side by side and the longest windows first.
func (l *labelSets) selecting(set *ledger.LabelSet) []*account {
	var found []*account
	var of labels.Labels = set.Labels
	for _, a := range l.accounts {
		if a.meter.matcher.MatchesLabels(set, of) {
			found = append(found, a)
		}
	}
	slices.SortFunc(found, byRules)
	return found
}
