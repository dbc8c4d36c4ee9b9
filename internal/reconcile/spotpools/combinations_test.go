package spotpools_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
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

// spread lists every combination if each fault is requested. Else it lists enough to combine
// each choice of one kind with each of every other kind.
func spread(t *testing.T, sizes []int) [][]int {
	t.Helper()
	if soaktest.On() {
		return product(sizes)
	}
	return sample(t, pairwise(sizes))
}

// sample returns the combinations to play.
func sample(t *testing.T, all [][]int) [][]int {
	t.Helper()
	some := soaktest.Sample(all)
	if len(some) == 0 {
		t.Fatal("no combination is played")
	}
	return some
}

// meeting is a choice of one kind together with a choice of another.
type meeting struct{ i, a, j, b int }

// pairwise lists combinations that contain each pair of choices of two kinds at least once.
// Kinds in apart need not meet. The result depends only on the arguments.
func pairwise(sizes []int, apart ...[2]int) [][]int {
	var wanted []meeting
	open := map[meeting]bool{}
	for i := range sizes {
		for j := i + 1; j < len(sizes); j++ {
			if slices.Contains(apart, [2]int{i, j}) {
				continue
			}
			for a := range sizes[i] {
				for b := range sizes[j] {
					wanted = append(wanted, meeting{i, a, j, b})
					open[meeting{i, a, j, b}] = true
				}
			}
		}
	}
	// Kinds with many choices first: the others fit in later.
	slices.SortStableFunc(wanted, func(x, y meeting) int { return sizes[y.i]*sizes[y.j] - sizes[x.i]*sizes[x.j] })
	used := make([][]int, len(sizes))
	for n, size := range sizes {
		used[n] = make([]int, size)
	}
	var cases [][]int
	for _, m := range wanted {
		if !open[m] {
			continue
		}
		c := slices.Repeat([]int{-1}, len(sizes))
		c[m.i], c[m.j] = m.a, m.b
		for n := range c {
			if c[n] < 0 {
				c[n] = best(c, n, open, used[n])
			}
		}
		for n, choice := range c {
			used[n][choice]++
		}
		for _, m := range meetings(c) {
			delete(open, m)
		}
		cases = append(cases, c)
	}
	return cases
}

// best is the choice of the n-th kind that completes most open pairs with the choices so far.
// Among equals it is the least used one.
func best(c []int, n int, open map[meeting]bool, used []int) int {
	choice, most := 0, -1
	for a := range used {
		c[n] = a
		count := 0
		for _, m := range meetings(c) {
			if (m.i == n || m.j == n) && open[m] {
				count++
			}
		}
		if count > most || count == most && used[a] < used[choice] {
			choice, most = a, count
		}
	}
	return choice
}

// meetings are those of a combination, whose choices may not all be made.
func meetings(c []int) []meeting {
	var list []meeting
	for i := range c {
		for j := i + 1; j < len(c); j++ {
			if c[i] >= 0 && c[j] >= 0 {
				list = append(list, meeting{i, c[i], j, c[j]})
			}
		}
	}
	return list
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
	if n := len(pairwise([]int{3, 4, 2}, [2]int{0, 1})); n > 10 {
		t.Errorf("%d cases where two kinds may stay apart, and 8 could do", n)
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
