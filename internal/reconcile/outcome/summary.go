package outcome

// Summary is the outcome of one declaration of any kind.
type Summary struct {
	Kind    string // "spot_pool", "budget"
	Name    string // "ap-singapore/train", "team-a"
	Outcome Outcome
	Error   *ErrorReport
	// Deleted reports that the run finished its deletion.
	Deleted bool
}

// Object is its kind and name.
func (s Summary) Object() string { return s.Kind + "/" + s.Name }

// Count counts the declarations with one of these outcomes.
func Count(list []Summary, outcomes ...Outcome) int {
	n := 0
	for _, s := range list {
		for _, o := range outcomes {
			if s.Outcome == o {
				n++
			}
		}
	}
	return n
}
