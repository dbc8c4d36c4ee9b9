package decide

import (
	"fmt"
	"reflect"

	"github.com/google/go-cmp/cmp"
)

// ChangedByRule says which rule changes what it is given, and how; empty if none does. Two
// equal situations that share nothing are needed for it: one for the rules, and one to
// compare with.
func ChangedByRule(given, untouched Situation) string {
	v, t, _ := prepare(given)
	want, tally, _ := prepare(untouched)
	own := cmp.AllowUnexported(View{}, Tally{})
	for n, rule := range v.rules() {
		after, _ := rule(v, t)
		if !reflect.DeepEqual(want, v) || !reflect.DeepEqual(tally, t) {
			return fmt.Sprintf("rule %d changes its input (-before +after):\n%s%s", n, cmp.Diff(want, v, own), cmp.Diff(tally, t, own))
		}
		tally, _ = want.rules()[n](want, tally)
		t = after
	}
	return ""
}
