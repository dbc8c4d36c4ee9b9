package budgets

import (
	"fmt"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// noticeLoss notes in the ledger that all of an earlier one was lost: it begins
// with this very look, and a budget was judged before. The note is kept as long
// as anything else of that time would be.
func (b *books) noticeLoss(budgets []budget.Declaration, previous map[string]previousStatus) {
	h := &b.documents.ledger.Header
	if h.Began != ledger.TimeOf(b.now()) {
		return
	}
	for _, d := range budgets {
		s := previous[d.Name].document.Value
		if s.At.IsZero() || s.UID != d.UID || ledger.TimeOf(s.At) >= h.Began {
			continue
		}
		h.Lost = append(h.Lost, ledger.Loss{
			Document: "all before " + h.Began.Time().Format(time.RFC3339), To: h.Began,
			Reason: fmt.Sprintf("the ledger was lost: the budget %s was judged at %s, and what is there begins at %s", s.Name, s.At.UTC().Format(time.RFC3339), h.Began.Time().Format(time.RFC3339)),
		})
		return
	}
}

// acceptLoss goes on without what is lost of the ledger, where a person says so.
func (r *Run) acceptLoss(b *books) {
	if r.options.AcceptLoss == "" {
		return
	}
	since := b.documents.ledger.Header.Forgone.Before
	lost := b.documents.ledger.Accept(ledger.Acceptance{At: ledger.TimeOf(b.now()), Reason: r.options.AcceptLoss})
	var parts []string
	for _, loss := range lost {
		parts = append(parts, loss.Reason)
	}
	if before := b.documents.ledger.Header.Forgone.Before; before > since {
		parts = append(parts, "what was used before "+before.Time().Format(time.RFC3339)+" and is not in the ledger")
	}
	if len(parts) == 0 {
		r.warnings.Add("nothing is missing of the ledger that was not accepted before")
		return
	}
	r.warnings.Add(fmt.Sprintf("accepted, since %s: %s. It is not counted, and holds nothing back any more", r.options.AcceptLoss, strings.Join(parts, "; ")))
}
