package reconcile

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// prune forgets what no budget's window reaches back to. Where one's window can't
// be told, everything stays. Of the cluster's clock and this machine's, the one
// that is behind counts: what is forgotten doesn't come back.
func (b *books) prune(budgets []budget.Declaration) {
	now := b.now()
	if b.local.Before(now) {
		now = b.local
	}
	keep := now
	for _, d := range budgets {
		from, err := keptSince(d, now)
		if err != nil {
			return
		}
		if from.Before(keep) {
			keep = from
		}
	}
	b.ledger.Prune(milli(keep))
}

// keptSince is up to where a budget needs what ended: by the length of its
// window, its grace and its longest gap before now.
func keptSince(d budget.Declaration, now time.Time) (time.Time, error) {
	w, err := d.WindowAt(now)
	if err != nil {
		return now, err
	}
	from := now.Add(w.Start.Sub(w.End))
	for _, text := range []string{d.Enforce.GracePeriod, d.Enforce.MaxGap} {
		length, err := duration.Parse(text)
		if err != nil {
			return now, err
		}
		from = from.Add(-length)
	}
	return from, nil
}
