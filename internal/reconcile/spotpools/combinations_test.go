package spotpools_test

import (
	"strings"
	"testing"
)

// product lists every combination of choices, each from 0 to its size.
func product(sizes []int) [][]int {
	cases := [][]int{nil}
	for _, size := range sizes {
		var longer [][]int
		for _, c := range cases {
			for n := range size {
				longer = append(longer, append(c[:len(c):len(c)], n))
			}
		}
		cases = longer
	}
	return cases
}

// pairwise lists combinations in which each choice of one kind meets each of every
// other kind at least once.
func pairwise(sizes []int) [][]int {
	type pair struct{ i, a, j, b int }
	open := map[pair]bool{}
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			for a := range sizes[i] {
				for b := range sizes[j] {
					open[pair{i, a, j, b}] = true
				}
			}
		}
	}
	news := func(c []int) int {
		n := 0
		for i := range c {
			for j := i + 1; j < len(c); j++ {
				if open[pair{i, c[i], j, c[j]}] {
					n++
				}
			}
		}
		return n
	}
	var cases [][]int
	all := product(sizes)
	for len(open) > 0 {
		best, most := []int(nil), 0
		for _, c := range all {
			if n := news(c); n > most {
				best, most = c, n
			}
		}
		for i := range best {
			for j := i + 1; j < len(best); j++ {
				delete(open, pair{i, best[i], j, best[j]})
			}
		}
		cases = append(cases, best)
	}
	return cases
}

func TestEachPairOfChoicesMeets(t *testing.T) {
	t.Parallel()
	cases := pairwise([]int{3, 4, 2})
	for i, a := range []int{3, 4, 2} {
		for j, b := range []int{3, 4, 2} {
			met := map[[2]int]bool{}
			for _, c := range cases {
				met[[2]int{c[i], c[j]}] = true
			}
			if i != j && len(met) != a*b {
				t.Errorf("%d of %d pairs of %d and %d", len(met), a*b, i, j)
			}
		}
	}
	if len(cases) > 16 {
		t.Errorf("%d cases, and 12 could do", len(cases))
	}
}

func contains(text string, parts ...string) bool {
	for _, part := range parts {
		if !strings.Contains(text, part) {
			return false
		}
	}
	return true
}
