package spotpool

import "time"

// Releasable lists the members whose tags can be taken off for good. One that has
// not shown, or whose tags have not come within TagLag, would be tagged afterwards.
func (p Plan) Releasable(now time.Time) []string {
	var ids []string
	for _, m := range p.Members {
		i, known := p.Journal.find(m.ID)
		if !known {
			continue
		}
		k := p.Journal.Known[i]
		if k.Seen && (k.Tagged || now.Sub(k.RecordedAt) > TagLag) {
			ids = append(ids, m.ID)
		}
	}
	return ids
}
