package declaration

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Trust returns why a status is too unreliable to allow launches; nil if it is reliable. The error is a *reason.Error
// unless the declaration is invalid.
func Trust(record Budget, s budget.Status, now time.Time) error {
	d := record.Declaration
	if record.Phase != Active {
		return &reason.Error{Reason: reason.BeingDestroyed()}
	}
	if s.Unknown != nil {
		return &reason.Error{Reason: s.Unknown.Reason}
	}
	if s.Terms != d.Terms() {
		return &reason.Error{Reason: reason.Unjudged(reason.Instant{Time: d.PublishedAt.UTC()})}
	}
	limit, err := d.StatusAge()
	if err != nil {
		return err
	}
	switch age := now.Sub(s.At); {
	case age > limit:
		return &reason.Error{Reason: reason.StatusOld(reason.Instant{Time: s.At.UTC()}, reason.Duration(age.Round(time.Minute)), reason.Duration(limit))}
	case age < -limit:
		return &reason.Error{Reason: reason.StatusAhead(reason.Instant{Time: s.At.UTC()})}
	}
	return nil
}
