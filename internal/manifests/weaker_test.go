package manifests_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// weaker returns an expression of a policy with each of its conditions left out in turn: it is true for
// more requests. It leaves guards in, and takes a comparison of all fields (sameMap) as one condition.
func weaker(expression string) []string {
	if condition, rest, found := cutTop(expression, "?"); found {
		yes, no, _ := cutTop(rest, ":")
		var all []string
		for _, w := range append(weaker(yes), "true") {
			all = append(all, condition+" ? ("+w+") : "+no)
		}
		for _, w := range append(weaker(no), "true") {
			all = append(all, condition+" ? "+yes+" : ("+w+")")
		}
		return all
	}
	if list := splitTop(expression, "||"); len(list) > 1 {
		return weakerParts(list, "||", func(int) bool { return false })
	}
	if list := pairComparisons(splitTop(expression, "&&")); len(list) > 1 {
		return weakerParts(list, "&&", func(n int) bool { return !isGuard(list[n], slices.Concat(list[:n], list[n+1:])) })
	}
	var all []string
	if before, inside, found := group(expression); found {
		for _, w := range weaker(inside) {
			all = append(all, before+w+")")
		}
	}
	return all
}

// weakerParts returns an expression with each part weakened, and without each one that can be left out.
func weakerParts(list []string, operator string, droppable func(n int) bool) []string {
	var all []string
	join := func(list []string) string { return "(" + strings.Join(list, ") "+operator+" (") + ")" }
	for n := range list {
		if droppable(n) {
			all = append(all, join(slices.Concat(list[:n], list[n+1:])))
		}
		for _, w := range weaker(list[n]) {
			all = append(all, join(slices.Concat(list[:n], []string{w}, list[n+1:])))
		}
	}
	return all
}

// pairComparisons joins the two halves of each comparison of all fields. The variable of these is k.
func pairComparisons(list []string) []string {
	var paired []string
	for n := 0; n < len(list); n++ {
		const half = ".all(k, "
		if n+1 < len(list) && strings.Contains(list[n], half) && strings.Contains(list[n+1], half) {
			paired = append(paired, list[n]+" && "+list[n+1])
			n++
			continue
		}
		paired = append(paired, list[n])
	}
	return paired
}

var (
	hasField = regexp.MustCompile(`^has\((.+)\)$`)
	hasKey   = regexp.MustCompile(`^(\S+) in (\S+)$`)
)

// isGuard reports whether a condition only says that a field, a key or an old object exists. It keeps
// the others from an error, which refuses a request too.
func isGuard(condition string, others []string) bool {
	uses := func(text string) bool {
		return slices.ContainsFunc(others, func(o string) bool { return strings.Contains(o, text) })
	}
	if found := hasField.FindStringSubmatch(condition); found != nil {
		return uses(found[1])
	}
	if found := hasKey.FindStringSubmatch(condition); found != nil {
		return uses(found[2] + "[" + found[1] + "]")
	}
	return condition == "request.operation == 'UPDATE'" && uses("oldObject")
}

// group returns what is in the parentheses around an expression, or in those of a last .all.
func group(expression string) (before, inside string, found bool) {
	open := 0
	scan(expression, func(n, depth int) bool {
		if depth == 0 && expression[n] == '(' {
			open = n + 1
		}
		return false
	})
	if !strings.HasSuffix(expression, ")") || open == 0 {
		return "", "", false
	}
	before, inside = expression[:open], expression[open:len(expression)-1]
	if variable, rest, _ := strings.Cut(inside, ", "); strings.HasSuffix(before, ".all(") && variable != "k" {
		return before + variable + ", ", rest, true
	}
	return before, inside, before == "("
}

// splitTop splits an expression at an operator outside of parentheses and texts.
func splitTop(expression, operator string) []string {
	var list []string
	for {
		part, rest, found := cutTop(expression, operator)
		list = append(list, part)
		if !found {
			return list
		}
		expression = rest
	}
}

func cutTop(expression, operator string) (before, after string, found bool) {
	at := scan(expression, func(n, depth int) bool { return depth == 0 && strings.HasPrefix(expression[n:], operator) })
	if at < 0 {
		return strings.TrimSpace(expression), "", false
	}
	return strings.TrimSpace(expression[:at]), strings.TrimSpace(expression[at+len(operator):]), true
}

// scan returns the first place outside of texts, by its depth in parentheses, that is sought; -1 for none.
func scan(expression string, sought func(n, depth int) bool) int {
	depth, inText := 0, false
	for n := range len(expression) {
		c := expression[n]
		if c == '\'' {
			inText = !inText
		}
		if inText {
			continue
		}
		if strings.IndexByte(")]}", c) >= 0 {
			depth--
		}
		if sought(n, depth) {
			return n
		}
		if strings.IndexByte("([{", c) >= 0 {
			depth++
		}
	}
	return -1
}

func TestWeaker(t *testing.T) {
	t.Parallel()
	for expression, want := range map[string][]string{
		"a":                                    nil,
		"a && b(c && d)":                       {"(b(c && d))", "(a)"},
		"a || b && (c && d)":                   {"(a) || (((c && d)))", "(a) || ((b))", "(a) || ((b) && (((d))))", "(a) || ((b) && (((c))))"},
		"a ? b && c : d":                       {"a ? ((c)) : d", "a ? ((b)) : d", "a ? (true) : d", "a ? b && c : (true)"},
		"a == '&& ?' && b":                     {"(b)", "(a == '&& ?')"},
		"x.filter(t, t && u).all(t, t)":        nil,
		"(a || b.all(o, c && d))":              {"((a) || (b.all(o, (d))))", "((a) || (b.all(o, (c))))"},
		"x.filter(t, t).all(t, t && u)":        {"x.filter(t, t).all(t, (u))", "x.filter(t, t).all(t, (t))"},
		"a.all(k, k && l) && b.all(k, m) && c": {"(c)", "(a.all(k, k && l) && b.all(k, m))"},
		"!(a && b)":                            nil,
		"has(a.b) && a.b == c":                 {"(has(a.b))"},
		"k in m && m[k] == v && k in n":        {"(k in m) && (k in n)", "(k in m) && (m[k] == v)"},
		"request.operation == 'UPDATE' && oldObject.a && b": {
			"(request.operation == 'UPDATE') && (b)", "(request.operation == 'UPDATE') && (oldObject.a)",
		},
	} {
		if diff := cmp.Diff(want, weaker(expression)); diff != "" {
			t.Errorf("%s (-want +got)\n%s", expression, diff)
		}
	}
}
