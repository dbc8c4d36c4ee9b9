package decide

import (
	"fmt"
	"reflect"
)

// ChangedByRule says which rule changes what it is given; empty if none does. Two equal
// situations that share nothing are needed for it: one for the rules, and one to compare
// with.
func ChangedByRule(given, untouched Situation) string {
	v, want := begin(given), begin(untouched)
	t, tally := Tally{journal: given.Journal.Of(given.Declaration)}, Tally{journal: untouched.Journal.Of(untouched.Declaration)}
	for n, rule := range v.rules() {
		after, _ := rule(v, t)
		if !reflect.DeepEqual(want, v) || !reflect.DeepEqual(tally, t) {
			return fmt.Sprintf("rule %d", n)
		}
		tally, _ = want.rules()[n](want, tally)
		t = after
	}
	return ""
}
