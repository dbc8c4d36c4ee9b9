package wording

import "slices"

// Nearest is the one of some names that another was probably meant to be; empty if none is
// like it.
func Nearest(name string, names []string) string {
	nearest, least := "", len(name)/2+1
	for _, other := range slices.Sorted(slices.Values(names)) {
		if d := Distance(name, other); d < least {
			nearest, least = other, d
		}
	}
	return nearest
}

// Distance is how many characters are to be put in, left out or replaced for one
// name to become the other (Levenshtein's).
func Distance(a, b string) int {
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
