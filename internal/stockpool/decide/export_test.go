package decide

import (
	"fmt"
	"reflect"
)

// ChangedByRule names the rule that changes its input; empty if none does. It takes two equal
// situations that share nothing: one for the rules, and one to compare with.
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
