package accounting

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// unreadGrace is the assumed grace period and longest gap of a budget that cannot be read. Its status
// does not contain them.
const unreadGrace = 24 * time.Hour

// Prune forgets what no budget's window reaches back to, and what is older than
// is kept in any case. The window of one whose declaration can't be read is the
// last one that it was judged by, where that is known. Budgets of other clusters
// ask nothing of this one's ledger. Of the cluster's clock and this machine's, the
// one that is behind counts: what is forgotten doesn't come back.
func (b *Books) Prune(budgets []budget.Declaration, previous map[string]budget.Status, kept time.Duration) {
	now := b.Now()
	if b.local.Before(now) {
		now = b.local
	}
	keep := now.Add(-kept)
	earlier := func(from time.Time) {
		if from.Before(keep) {
			keep = from
		}
	}
	told := map[string]bool{}
	for _, d := range budgets {
		if from, err := retentionStart(d, now); err == nil {
			told[d.Name] = true
			earlier(from)
		}
	}
	for name, s := range previous {
		if u := s.Usage; !told[name] && s.ClusterUID == b.documents.ledger.Header.ClusterUID {
			end := s.At
			if u.WindowEnd.After(end) { // of a calendar period
				end = u.WindowEnd
			}
			earlier(now.Add(u.WindowStart.Sub(end) - unreadGrace))
		}
	}
	b.documents.ledger.Prune(ledger.TimeOf(keep))
}

// retentionStart returns the earliest end of intervals that a budget needs: its
// window, its grace period and its longest gap before now.
func retentionStart(d budget.Declaration, now time.Time) (time.Time, error) {
	w, err := d.WindowAt(now, time.LoadLocation)
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
