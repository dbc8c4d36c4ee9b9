package declaration

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
)

// Names choose among what is declared: pools by NAME or REGION/NAME, budgets by
// NAME, and both by globs of these ("team-*", "ap-singapore/*"). None choose all.
type Names []string

// Validate says which of the names can't be one.
func (n Names) Validate() error {
	for _, name := range n {
		if _, err := path.Match(name, ""); name == "" || err != nil {
			return fmt.Errorf("%q is no name and no glob: write NAME, REGION/NAME, or a glob such as 'team-*'", name)
		}
	}
	return nil
}

// Pool reports whether a pool is chosen, by its REGION/NAME.
func (n Names) Pool(key string) bool {
	return len(n) == 0 || slices.ContainsFunc(n, func(name string) bool { return fitsPool(name, key) })
}

// Budget reports whether a budget is chosen.
func (n Names) Budget(budget string) bool {
	return len(n) == 0 || slices.ContainsFunc(n, func(name string) bool { return fits(name, budget) })
}

// Fits reports whether an object such as "spot_pool/REGION/NAME" or "budget/NAME" is
// chosen; one of no kind, such as "run", by its name.
func (n Names) Fits(object string) bool {
	if key, pool := strings.CutPrefix(object, "spot_pool/"); pool {
		return n.Pool(key)
	}
	return n.Budget(strings.TrimPrefix(object, "budget/"))
}

// Among returns an *UnknownNameError of the first name that fits none of what is
// declared.
func (n Names) Among(store string, pools, budgets []string) error {
	for _, name := range n {
		pool := slices.ContainsFunc(pools, func(key string) bool { return fitsPool(name, key) })
		if !pool && !slices.ContainsFunc(budgets, func(budget string) bool { return fits(name, budget) }) {
			return unknownName(store, name, pools, budgets)
		}
	}
	return nil
}

func fitsPool(name, key string) bool {
	return fits(name, key) || fits(name, key[strings.LastIndexByte(key, '/')+1:])
}

func fits(name, declared string) bool {
	if name == declared {
		return true
	}
	ok, err := path.Match(name, declared)
	return ok && err == nil
}

// UnknownNameError says that nothing that is declared has a name, or fits a glob.
type UnknownNameError struct {
	Store, Name string
	// Nearest are the names of what is declared that are the most like it, and Others
	// is how many there are beside.
	Nearest []string
	Others  int
}

// Error names what there is.
func (e *UnknownNameError) Error() string {
	text := fmt.Sprintf("no pool and no budget %s is declared in the store %s", e.Name, e.Store)
	if strings.ContainsAny(e.Name, `*?[\`) {
		text = fmt.Sprintf("no pool and no budget in the store %s fits %s", e.Store, e.Name)
	}
	switch {
	case len(e.Nearest) == 0:
		return text + ": nothing is declared there"
	case e.Others > 0:
		return fmt.Sprintf("%s: the nearest are %s, and there are %d more, which gpupool status lists", text, strings.Join(e.Nearest, ", "), e.Others)
	}
	return text + ": there is " + strings.Join(e.Nearest, ", ")
}

// nearestAtMost is how many names an error suggests.
const nearestAtMost = 5

func unknownName(store, name string, pools, budgets []string) error {
	type suggestion struct {
		text     string
		distance int
	}
	var all []suggestion
	for _, key := range pools {
		_, short, _ := strings.Cut(key, "/")
		all = append(all, suggestion{key, min(distance(name, key), distance(name, short))})
	}
	for _, budget := range budgets {
		all = append(all, suggestion{"budget " + budget, distance(name, budget)})
	}
	slices.SortStableFunc(all, func(a, b suggestion) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), cmp.Compare(a.text, b.text))
	})
	e := &UnknownNameError{Store: store, Name: name, Others: max(0, len(all)-nearestAtMost)}
	for _, s := range all[:len(all)-e.Others] {
		e.Nearest = append(e.Nearest, s.text)
	}
	return e
}

// distance is how many characters are to be put in, left out or replaced for one
// name to become the other (Levenshtein's).
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for n := range row {
		row[n] = n
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
