package decide_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/recordtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

func TestPlansOnRecord(t *testing.T) {
	t.Parallel()
	recordtest.Compare(t, 200, 25, func(t *rapid.T, life *recordtest.Life) {
		playFaults(t, func(w *world, p decide.Plan) { life.Add(w.now.Format(time.TimeOnly), planLines(p)) })
	})
}

// planLines are the lines of a plan.
func planLines(p decide.Plan) []string {
	s := p.Status
	lines := []string{fmt.Sprintf("%s: %d desired, %d available, %d in use, %d pods, settled %t", s.Phase, s.Desired, s.Available, s.Allocated, p.Replicas,
		s.Settled())}
	add := func(what string, texts ...string) {
		for _, text := range texts {
			lines = append(lines, what+" "+text)
		}
	}
	for _, d := range p.Decisions {
		add("decides", d.String())
	}
	if p.Refused != nil {
		add("refuses", p.Refused.Error())
	}
	add("warns", p.Warnings.Texts()...)
	for _, c := range s.Conditions {
		add("is", fmt.Sprintf("%s %s %s %s", c.Type, c.Status, c.Reason, c.Text()))
	}
	return lines
}
