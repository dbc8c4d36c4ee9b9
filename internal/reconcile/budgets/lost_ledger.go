package budgets

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/decide"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets/accounting"
)

// acceptLoss accepts the lost part of the ledger on an operator's request.
func (k *kind) acceptLoss(b *accounting.Books) {
	if k.options.AcceptLoss == "" {
		return
	}
	since := b.Ledger().Header.Forgone.Before
	lost := b.Ledger().Accept(ledger.Acceptance{At: ledger.TimeOf(b.Now()), Reason: k.options.AcceptLoss})
	var parts reason.Reasons
	for _, loss := range lost {
		parts = append(parts, reason.LostDocument(reason.NewForeign(loss.Reason)))
	}
	if before := b.Ledger().Header.Forgone.Before; before > since {
		parts = append(parts, reason.UsageBefore(reason.Instant{Time: before.Time()}))
	}
	if len(parts) == 0 {
		k.warnings.Warn(reason.LossAcceptedBefore())
		return
	}
	k.warnings.Warn(reason.LossAccepted(reason.NewForeign(k.options.AcceptLoss), parts))
}

// announceAccepted reports what follows from an accepted loss before it happens.
func (k *kind) announceAccepted(j judgement) {
	previous, usage := j.situation.Previous, j.plan.Status.Usage
	held := previous != nil && (previous.Unknown != nil || previous.Usage.Exceeded())
	list := liftedMeasures(j.plan)
	if k.options.AcceptLoss == "" || usage.Exceeded() || j.plan.Status.Unknown != nil || !held && len(list) == 0 {
		return
	}
	object := j.situation.Declaration.Object()
	counted := reason.CountedWithoutLoss(reason.Amount(budget.Hours(usage.Consumed)), reason.Amount(budget.Hours(usage.Limit)),
		append(list, reason.PoolsMayLaunch()))
	k.flow.Reporter.Report(object, counted.String(), nil)
	k.warnings.Warn(reason.AboutBudget(reason.Object(object), counted))
}

// liftedMeasures describes what a plan lifts.
func liftedMeasures(p decide.Plan) reason.Facts {
	var list reason.Facts
	resumed := 0
	for _, d := range p.Decisions {
		switch d.Kind {
		case budget.KindUnfreeze:
			list = append(list, reason.FreezeLifted())
		case budget.KindResume:
			resumed++
		}
	}
	if resumed > 0 {
		list = append(list, reason.WorkloadsResumed(reason.Count(resumed)))
	}
	return list
}
