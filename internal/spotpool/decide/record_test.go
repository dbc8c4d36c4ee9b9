package decide_test

import (
	"fmt"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/recordtest"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/decide"
)

func TestPlansOnRecord(t *testing.T) {
	t.Parallel()
	recordtest.Compare(t, 120, 40, func(t *rapid.T, life *recordtest.Life) {
		playWithNodes(t, func(s decide.Situation, p decide.Plan) { life.Add(s.Now.Format(time.TimeOnly), planLines(s, p)) })
	})
}

// planLines are the lines of a plan.
func planLines(s decide.Situation, p decide.Plan) []string {
	lines := []string{fmt.Sprintf("counts %d total, %d capacity", p.Total, p.Capacity)}
	add := func(what string, texts ...string) {
		for _, text := range texts {
			lines = append(lines, what+" "+text)
		}
	}
	for _, d := range p.Decisions {
		add("decides", d.String())
	}
	if !p.Refusal.IsZero() {
		add("refuses", p.Refusal.String())
	}
	add("short", p.Short.Texts()...)
	add("warns", p.Warnings.Texts()...)
	add("says", p.Messages.Texts()...)
	for _, standing := range decide.Standings(s, p) {
		add("has", fmt.Sprintf("%+v", standing))
	}
	for _, a := range decide.Appraise(s, p) {
		add("offering", fmt.Sprintf("%s %s: %d, launches %d, %s %s %s", a.AvailabilityZone, a.ChargeType, a.Total, a.Launches, a.Code, a.Why,
			a.Until.Format(time.TimeOnly)))
	}
	return lines
}
