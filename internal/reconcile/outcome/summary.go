package outcome

// Summary is what became of one declaration, of whichever kind.
type Summary struct {
	Kind    string // "spot_pool", "budget"
	Name    string // "ap-singapore/train", "team-a"
	Outcome Outcome
	Error   *ErrorReport
	// Deleted says that the run finished its deletion.
	Deleted bool
}

// Object is its name among all kinds, as decisions have it.
func (s Summary) Object() string { return s.Kind + "/" + s.Name }

// Count counts the declarations that came out in one of these ways.
func Count(list []Summary, ways ...Outcome) int {
	n := 0
	for _, s := range list {
		for _, way := range ways {
			if s.Outcome == way {
				n++
			}
		}
	}
	return n
}
