package declaration

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// UntrustedError says that a status is too unreliable to allow launches.
type UntrustedError struct{ Why reason.Reason }

// Error returns why.
func (e *UntrustedError) Error() string { return e.Why.String() }

// Trust returns why a status is too unreliable to allow launches; nil if it is reliable. The error is *UntrustedError
// unless the declaration is invalid.
func Trust(record Budget, s budget.Status, now time.Time) error {
	d := record.Declaration
	if record.Phase != Active {
		return &UntrustedError{reason.BeingDestroyed()}
	}
	if s.Unknown != nil {
		return &UntrustedError{s.Unknown.Reason}
	}
	if s.Terms != d.Terms() {
		return &UntrustedError{reason.Unjudged(reason.Instant{Time: d.PublishedAt.UTC()})}
	}
	limit, err := d.StatusAge()
	if err != nil {
		return err
	}
	switch age := now.Sub(s.At); {
	case age > limit:
		return &UntrustedError{reason.StatusOld(reason.Instant{Time: s.At.UTC()}, reason.Duration(age.Round(time.Minute)), reason.Duration(limit))}
	case age < -limit:
		return &UntrustedError{reason.StatusAhead(reason.Instant{Time: s.At.UTC()})}
	}
	return nil
}
