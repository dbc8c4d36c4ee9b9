package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// Assumption is an attribute that a dry run takes to be other than declared.
type Assumption struct {
	// The object, such as `budget/team-a` or `spot_pool/ap-singapore/train`.
	Object string `json:"object"`
	// The assumed attribute.
	Attribute string `json:"attribute"`
	// The assumed value.
	Value string `json:"value"`
	// The declared value. For `spot_max_price`, those of all offerings.
	Declared string `json:"declared"`

	kind string
	name string
}

// assumable lists the attributes that a dry run may assume, by the kind of their object.
var assumable = map[string][]string{
	"budget": {"gpu_hours"}, "pool": {"minimum", "maximum", "spot_max_price"}, "stock_pool": {"replicas", "maximum"},
}

// ParseAssumption parses budget/NAME.gpu_hours=200, pool/[REGION/]NAME.minimum=4 or
// stock_pool/[NAMESPACE/]NAME.replicas=4. The kind pool can also be written spot_pool.
func ParseAssumption(text string) (Assumption, error) {
	const form = "write budget/NAME.gpu_hours=200, pool/NAME.minimum=4 (maximum, spot_max_price), or stock_pool/NAME.replicas=4 (maximum), with or without " +
		"REGION/ or NAMESPACE/ before NAME"
	path, value, valued := strings.Cut(text, "=")
	at := strings.LastIndex(path, ".")
	kind, name, named := strings.Cut(path[:max(at, 0)], "/")
	if !valued || value == "" || !named || name == "" {
		return Assumption{}, fmt.Errorf("invalid assumption %q: %s", text, form)
	}
	if kind == "spot_pool" {
		kind = "pool"
	}
	attributes, known := assumable[kind]
	if !known {
		return Assumption{}, fmt.Errorf("%q is neither a budget, a pool nor a stock pool: %s", kind, form)
	}
	attribute := path[at+1:]
	if !slices.Contains(attributes, attribute) {
		return Assumption{}, fmt.Errorf("cannot assume %s of a %s: only %s", attribute, strings.ReplaceAll(kind, "_", " "), strings.Join(attributes, ", "))
	}
	return Assumption{Object: kind + "/" + name, Attribute: attribute, Value: value, kind: kind, name: name}, nil
}

// assume writes the assumptions of a dry run into its draft. It applies all assumptions on
// one object together, since each of them may be invalid without the others.
func (r *run) assume(ctx context.Context) error {
	attributes, was := map[string]map[string]string{}, map[string]map[string]string{}
	list := slices.Clone(r.options.Assume)
	for n := range list {
		a := &list[n]
		var err error
		switch a.kind {
		case "pool":
			a.name, err = r.runner.pools.KeyOf(ctx, a.name)
			a.Object = "spot_pool/" + a.name
		case "stock_pool":
			a.name, err = r.runner.stock.KeyOf(ctx, a.name)
			a.Object = "stock_pool/" + a.name
		}
		if err != nil {
			return err
		}
		if attributes[a.Object] == nil {
			attributes[a.Object] = map[string]string{}
		}
		attributes[a.Object][a.Attribute] = a.Value
	}
	for n := range list {
		a := &list[n]
		if was[a.Object] == nil {
			var err error
			if was[a.Object], err = r.assumeOf(ctx, *a, attributes[a.Object]); err != nil {
				return err
			}
		}
		a.Declared = was[a.Object][a.Attribute]
	}
	r.report.Assumed = list
	return nil
}

func (r *run) assumeOf(ctx context.Context, a Assumption, attributes map[string]string) (was map[string]string, err error) {
	switch a.kind {
	case "pool":
		return r.runner.pools.Assume(ctx, a.name, attributes)
	case "stock_pool":
		return r.runner.stock.Assume(ctx, a.name, attributes)
	}
	hours, err := r.runner.budgets.Assume(ctx, a.name, attributes[a.Attribute])
	return map[string]string{a.Attribute: hours}, err
}
