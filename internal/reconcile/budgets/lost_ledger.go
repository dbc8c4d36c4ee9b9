package budgets

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// acceptLoss accepts the lost part of the ledger on an operator's request.
func (k *kind) acceptLoss(b *accounting.Books) {
	if k.options.AcceptLoss == "" {
		return
	}
	since := b.Ledger().Header.Forgone.Before
	lost := b.Ledger().Accept(ledger.Acceptance{At: ledger.TimeOf(b.Now()), Reason: k.options.AcceptLoss})
	var parts []string
	for _, loss := range lost {
		parts = append(parts, loss.Reason)
	}
	if before := b.Ledger().Header.Forgone.Before; before > since {
		parts = append(parts, "usage before "+before.Time().Format(time.RFC3339)+" that is not in the ledger")
	}
	if len(parts) == 0 {
		k.warnings.Add("every loss of the ledger was accepted before")
		return
	}
	k.warnings.Add(fmt.Sprintf("loss accepted (%s): %s. It is not counted, and no longer withholds anything", k.options.AcceptLoss, strings.Join(parts, "; ")))
}

// announceAccepted reports what follows from an accepted loss before it happens.
func (k *kind) announceAccepted(j judgement) {
	previous, usage := j.situation.Previous, j.plan.Status.Usage
	held := previous != nil && (previous.Unknown != nil || previous.Usage.Exceeded())
	list := liftedMeasures(j.plan)
	if k.options.AcceptLoss == "" || usage.Exceeded() || j.plan.Status.Unknown != nil || !held && len(list) == 0 {
		return
	}
	text := fmt.Sprintf("%s of %s GPU-hours are counted without the lost part: %s", budget.Hours(usage.Consumed), budget.Hours(usage.Limit),
		strings.Join(append(list, "pools that name it may launch"), ", "))
	k.flow.Reporter.Report(j.situation.Declaration.Object(), text, nil)
	k.warnings.Add(j.situation.Declaration.Object() + ": " + text)
}

// liftedMeasures describes what a plan lifts.
func liftedMeasures(p decide.Plan) []string {
	var list []string
	resumed := 0
	for _, d := range p.Decisions {
		switch d.Kind {
		case budget.KindUnfreeze:
			list = append(list, "its freeze is lifted")
		case budget.KindResume:
			resumed++
		}
	}
	if resumed > 0 {
		list = append(list, fmt.Sprintf("%d %s resumed", resumed, wording.Plural(resumed, "workload is", "workloads are")))
	}
	return list
}
