package wording

import "slices"

// Nearest is the name that is most similar to another one; empty if none is similar.
func Nearest(name string, names []string) string {
	nearest, least := "", len(name)/2+1
	for _, other := range slices.Sorted(slices.Values(names)) {
		if d := Distance(name, other); d < least {
			nearest, least = other, d
		}
	}
	return nearest
}

// Distance is the Levenshtein distance of two names: the number of characters to insert,
// delete or replace.
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
