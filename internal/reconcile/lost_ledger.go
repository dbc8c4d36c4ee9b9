package reconcile

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// noticeLoss notes in the ledger that all of an earlier one was lost: it begins
// with this very look, and a budget was judged before. The note is kept as long
// as anything else of that time would be.
func (b *books) noticeLoss(targets []budgetTarget, previous map[string]previousStatus) {
	h := &b.ledger.Header
	if h.Began != milli(b.now()) {
		return
	}
	for _, t := range targets {
		s := previous[t.declaration.Name].value
		if s.At.IsZero() || s.UID != t.declaration.UID || milli(s.At) >= h.Began {
			continue
		}
		h.Lost = append(h.Lost, ledger.Loss{
			Document: "all before " + moment(h.Began).Format(time.RFC3339), To: h.Began,
			Reason: fmt.Sprintf("the ledger was lost: the budget %s was judged at %s, and what is there begins at %s", s.Name, s.At.UTC().Format(time.RFC3339), moment(h.Began).Format(time.RFC3339)),
		})
		return
	}
}
