package decide_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

// TestEachEventIsToldOnce runs a pool through everything that can happen to it, with runs
// killed anywhere. No decision loses an unreported event. Each launch and each instance is
// reported once by one journal.
func TestEachEventIsToldOnce(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(declarations().Draw(t, "declaration"))
		w.strangers()
		check := func(s decide.Situation, p decide.Plan) {
			before, after := s.Journal.Unreported, p.Journal.Unreported
			if len(after) < len(before) {
				t.Fatalf("of %d events %d are left", len(before), len(after))
			}
			told := map[string]bool{}
			for n, e := range after {
				if n < len(before) && before[n].ID != e.ID {
					t.Fatalf("%+v was to be told, and is not any more", before[n])
				}
				if told[e.ID] && (e.Kind == history.Launch || e.Kind == history.Begin) {
					t.Fatalf("told twice: %+v", e)
				}
				told[e.ID] = true
			}
		}
		for range rapid.IntRange(0, 25).Draw(t, "steps") {
			w.happen(t)
			f := fault{step: rapid.IntRange(0, 3).Draw(t, "step"), kind: faultKind(rapid.IntRange(0, 5).Draw(t, "fault"))}
			if _, err := w.run(f, check); err != nil {
				t.Fatal(err)
			}
			w.pass(time.Minute)
		}
	})
}
