package budget

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// audience is what budgets have in common that count the same pods in the same
// way over the same window: they differ by their limits alone.
type audience struct {
	number  int
	matcher *Matcher
	valuer  int
	window  Window
	rolling ledger.Time // the length of a rolling window; else 0
	from    ledger.Time
	budgets []int // by their place in the declarations
	classes []*class
}

// census is who is counted by which budgets.
type census struct {
	audiences []*audience
	valuers   []*valuer
	// keys and namespaceKeys are the labels that any selector or breakdown asks
	// for: pods that agree on these are of one class.
	keys, namespaceKeys map[string]int
	// An audience is found by a namespace, else by a label, that each of its pods
	// has; where its selector names neither, it stands among the rest.
	byNamespace map[string][]*audience
	byLabel     map[ledger.Label][]*audience
	rest        []*audience
}

// newCensus sorts budgets into audiences. Budgets that can't be judged get an
// error in their results, and take no part.
func newCensus(declarations []Declaration, now time.Time, results []Result) *census {
	c := &census{
		keys: map[string]int{}, namespaceKeys: map[string]int{},
		byNamespace: map[string][]*audience{}, byLabel: map[ledger.Label][]*audience{},
	}
	audiences := map[string]*audience{}
	valuers := map[string]int{}
	for n, d := range declarations {
		results[n].Name = d.Name
		if err := c.add(n, d, now, audiences, valuers, &results[n].Usage); err != nil {
			results[n] = Result{Name: d.Name, Err: fmt.Errorf("budget %s: %w", d.Name, err)}
		}
	}
	return c
}

func (c *census) add(n int, d Declaration, now time.Time, audiences map[string]*audience, valuers map[string]int, usage *Usage) error {
	limit, err := d.Limit()
	if err != nil {
		return err
	}
	span, err := d.span()
	if err != nil {
		return err
	}
	v, err := d.valuation()
	if err != nil {
		return err
	}
	matcher, err := d.Selector.Matcher()
	if err != nil {
		return err
	}
	window := span.at(now)
	*usage = Usage{WindowStart: window.Start, WindowEnd: window.End, Limit: limit}
	valueKey := v.key()
	if _, known := valuers[valueKey]; !known {
		valuers[valueKey] = len(c.valuers)
		c.valuers = append(c.valuers, newValuer(v))
	}
	key := fmt.Sprintf("%s|%d|%d|%t|%s", d.Selector.key(), window.Start.UnixMilli(), window.End.UnixMilli(), window.Rolling, valueKey)
	a, known := audiences[key]
	if !known {
		a = &audience{number: len(c.audiences), matcher: matcher, valuer: valuers[valueKey], window: window, rolling: ledger.Time(span.rolling.Milliseconds()), from: fromTime(window.Start)}
		audiences[key] = a
		c.audiences = append(c.audiences, a)
		c.place(a)
	}
	a.budgets = append(a.budgets, n)
	c.ask(d)
	return nil
}

// place puts an audience where the fewest label sets look for it.
func (c *census) place(a *audience) {
	switch m := a.matcher; {
	case len(m.namespaces) > 0:
		for _, namespace := range m.namespaces {
			c.byNamespace[namespace] = append(c.byNamespace[namespace], a)
		}
	case len(m.labels) > 0:
		key := slices.Min(slices.Collect(maps.Keys(m.labels)))
		label := ledger.Label{Key: key, Value: m.labels[key]}
		c.byLabel[label] = append(c.byLabel[label], a)
	default:
		for _, r := range m.requirements {
			if r.Operator() != operators["In"] {
				continue
			}
			for value := range r.Values() {
				label := ledger.Label{Key: r.Key(), Value: value}
				c.byLabel[label] = append(c.byLabel[label], a)
			}
			return
		}
		c.rest = append(c.rest, a)
	}
}

// ask notes the labels that a declaration asks for.
func (c *census) ask(d Declaration) {
	note := func(keys map[string]int, key string) {
		if _, known := keys[key]; !known {
			keys[key] = len(keys)
		}
	}
	for key := range d.Selector.MatchLabels {
		note(c.keys, key)
	}
	for _, e := range d.Selector.MatchExpressions {
		note(c.keys, e.Key)
	}
	for _, key := range d.BreakdownLabels {
		note(c.keys, key)
	}
	for key := range d.Selector.NamespaceLabels {
		note(c.namespaceKeys, key)
	}
}

// matching are the audiences that count a label set's pods.
func (c *census) matching(set *ledger.LabelSet) []*audience {
	var found []*audience
	consider := func(candidates []*audience) {
		for _, a := range candidates {
			if a.matcher.Matches(set) {
				found = append(found, a)
			}
		}
	}
	consider(c.byNamespace[set.Namespace])
	for _, label := range set.Labels {
		consider(c.byLabel[label])
	}
	consider(c.rest)
	return found
}
