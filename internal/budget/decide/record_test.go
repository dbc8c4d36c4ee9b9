package decide

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/recordtest"
)

func TestPlansOnRecord(t *testing.T) {
	t.Parallel()
	recordtest.Compare(t, 400, 6, func(t *rapid.T, life *recordtest.Life) {
		s := drawSituation(t)
		life.Add("without the pods", planLines(Decide(s, nil)))
		second := s.Observation
		p := Decide(s, &second)
		life.Add("with them", planLines(p))
		if len(p.Decisions) > 1 {
			life.Add("half done", statusLines(p, len(p.Decisions)/2))
		}
	})
}

// planLines are the lines of a plan, and of the status if it is carried out.
func planLines(p Plan) []string {
	var lines []string
	for _, d := range p.Decisions {
		lines = append(lines, "decides "+d.String())
	}
	for _, d := range p.Reserves {
		lines = append(lines, "reserves "+d.String())
	}
	return append(lines, statusLines(p, len(p.Decisions))...)
}

// statusLines are those of the status once some decisions are carried out.
func statusLines(p Plan, done int) []string {
	s := p.Settle(p.Decisions[:done])
	lines := []string{fmt.Sprintf("enforced %v, fired %v, withheld %q", s.Enforced, s.Fired, s.Withheld)}
	for _, e := range s.Effects {
		lines = append(lines, fmt.Sprintf("effect %+v", e))
	}
	for _, w := range s.Warnings.Texts() {
		lines = append(lines, "warns "+w)
	}
	return lines
}
