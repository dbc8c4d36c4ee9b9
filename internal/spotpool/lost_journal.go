package spotpool

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// noteLoss notes that a pool has no journal, and forgets it once everything launched before
// that is listed with its tags. A pool without a uid is not created yet, and the journal
// of a new pool has a salt before anything is decided by it; j must be a clone.
func (j *Journal) noteLoss(d Declaration, now time.Time) {
	switch {
	case j.LostAt.IsZero() && j.Salt == "" && d.UID != "":
		j.LostAt = now
	case now.Sub(j.LostAt) > TagLag:
		j.LostAt = time.Time{}
	}
}

// WhyLost says why nothing is launched after a journal was lost, and until when; empty if
// none was lost recently.
func (j Journal) WhyLost() string {
	if j.LostAt.IsZero() {
		return ""
	}
	return fmt.Sprintf("its journal was missing at %s, so instances launched shortly before may not be listed yet: nothing is launched until %s, and any "+
		"apply or reconcile after that launches what is missing",
		wording.Instant(j.LostAt), wording.Instant(j.LostAt.Add(TagLag)))
}
