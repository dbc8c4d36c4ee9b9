package accounting

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// NoticeLoss notes in the ledger that all of an earlier one was lost: it begins
// with this very observation, and a budget was judged before. The note is kept as long
// as anything else of that time would be.
func (b *Books) NoticeLoss(budgets []budget.Declaration, previous map[string]budget.Status) {
	h := &b.documents.ledger.Header
	if h.Began != ledger.TimeOf(b.Now()) {
		return
	}
	for _, d := range budgets {
		s := previous[d.Name]
		if s.At.IsZero() || s.UID != d.UID || ledger.TimeOf(s.At) >= h.Began {
			continue
		}
		h.Lost = append(h.Lost, ledger.Loss{
			Document: "all before " + h.Began.Time().Format(time.RFC3339), To: h.Began,
			Reason: fmt.Sprintf("the ledger was lost: the budget %s was judged at %s, and what is there begins at %s", s.Name, s.At.UTC().Format(time.RFC3339),
				h.Began.Time().Format(time.RFC3339)),
		})
		return
	}
}
