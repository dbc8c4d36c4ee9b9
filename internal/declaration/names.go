package declaration

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Names select declared objects. Pools are selected by NAME or REGION/NAME, stock pools by NAME
// or NAMESPACE/NAME, and budgets by NAME. Each may have its kind before it ("budget/team-a",
// "stock_pool/ml/g1"), and globs are allowed ("team-*", "ap-singapore/*"). Empty selects all.
type Names []string

// Validate returns an error for the first invalid name.
func (n Names) Validate() error {
	for _, name := range n {
		if _, err := path.Match(name, ""); name == "" || err != nil {
			return fmt.Errorf("invalid name %q: use NAME, REGION/NAME, NAMESPACE/NAME, or a glob such as 'team-*'", name)
		}
	}
	return nil
}

// The prefixes of objects, by kind.
const (
	aPool      = "spot_pool/"
	aStockPool = "stock_pool/"
	aBudget    = "budget/"
)

// Pool reports whether a pool is chosen, by its REGION/NAME.
func (n Names) Pool(key string) bool { return n.Fits(aPool + key) }

// StockPool reports whether a stock pool is chosen, by its NAMESPACE/NAME.
func (n Names) StockPool(key string) bool { return n.Fits(aStockPool + key) }

// Budget reports whether a budget is chosen.
func (n Names) Budget(budget string) bool { return n.Fits(aBudget + budget) }

// Fits reports whether an object such as "spot_pool/REGION/NAME" or "budget/NAME" is
// chosen; one of no kind, such as "run", by its name.
func (n Names) Fits(object string) bool {
	return len(n) == 0 || slices.ContainsFunc(n, func(name string) bool { return fitsObject(name, object) })
}

// Among returns an *UnknownNameError of the first name that fits none of what is
// declared, such as "budget/NAME".
func (n Names) Among(store string, objects []string) error {
	for _, name := range n {
		if !slices.ContainsFunc(objects, func(object string) bool { return fitsObject(name, object) }) {
			return unknownName(store, name, objects)
		}
	}
	return nil
}

// fitsObject reports whether a name or a glob chooses an object. A glob chooses no kind.
func fitsObject(name, object string) bool {
	key, kind := keyOf(object)
	if bare, kindToo := strings.CutPrefix(name, kind); kindToo && kind != "" && fitsKey(bare, key) {
		return true
	}
	return fitsKey(name, key)
}

func keyOf(object string) (key, kind string) {
	for _, kind := range []string{aPool, aStockPool, aBudget} {
		if key, is := strings.CutPrefix(object, kind); is {
			return key, kind
		}
	}
	return object, ""
}

func fitsKey(name, key string) bool {
	return fits(name, key) || fits(name, key[strings.LastIndexByte(key, '/')+1:])
}

func fits(name, declared string) bool {
	if name == declared {
		return true
	}
	ok, err := path.Match(name, declared)
	return ok && err == nil
}

// UnknownNameError reports that no declared object has a name, or matches a glob.
type UnknownNameError struct {
	Store, Name string
	stock       bool // there are stock pools
	// Nearest are the most similar names, and Others counts the remaining ones.
	Nearest []string
	Others  int
}

// Error lists the nearest names.
func (e *UnknownNameError) Error() string {
	kinds := "no pool or budget"
	if e.stock {
		kinds = "no pool, stock pool or budget"
	}
	text := fmt.Sprintf("%s named %s in the store %s", kinds, e.Name, e.Store)
	if strings.ContainsAny(e.Name, `*?[\`) {
		text = fmt.Sprintf("%s in the store %s matches %s", kinds, e.Store, e.Name)
	}
	switch {
	case len(e.Nearest) == 0:
		return text + "; it has no declarations"
	case e.Others > 0:
		return fmt.Sprintf("%s; it has %s and %d more: gpupool status lists all", text, strings.Join(e.Nearest, ", "), e.Others)
	}
	return text + "; it has " + strings.Join(e.Nearest, ", ")
}

const nearestAtMost = 5

func unknownName(store, name string, objects []string) error {
	type suggestion struct {
		text     string
		distance int
	}
	e := &UnknownNameError{Store: store, Name: name}
	var all []suggestion
	for _, object := range objects {
		key, kind := keyOf(object)
		_, bare := keyOf(name)
		wanted, short := strings.TrimPrefix(name, bare), key[strings.LastIndexByte(key, '/')+1:]
		text := key
		if kind != aPool {
			text = kind + key
		}
		e.stock = e.stock || kind == aStockPool
		all = append(all, suggestion{text, min(wording.Distance(wanted, key), wording.Distance(wanted, short))})
	}
	slices.SortStableFunc(all, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.text, b.text))
	})
	e.Others = max(0, len(all)-nearestAtMost)
	for _, s := range all[:len(all)-e.Others] {
		e.Nearest = append(e.Nearest, s.text)
	}
	return e
}
