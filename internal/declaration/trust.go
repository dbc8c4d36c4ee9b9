package declaration

import (
	"errors"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
)

// Trust returns why a status is too unreliable to allow launches; nil if it is reliable.
func Trust(record Budget, s budget.Status, now time.Time) error {
	d := record.Declaration
	if record.Phase != Active {
		return errors.New("it is being destroyed")
	}
	if s.Unknown != nil {
		return errors.New(s.Unknown.Reason)
	}
	if s.Terms != d.Terms() {
		return fmt.Errorf("it was changed at %s, and no run of gpupool reconcile has judged it since", d.PublishedAt.UTC().Format(time.RFC3339))
	}
	limit, err := d.StatusAge()
	if err != nil {
		return err
	}
	switch age := now.Sub(s.At); {
	case age > limit:
		return fmt.Errorf("its status is as of %s, %s ago, and max_status_age is %s: does gpupool reconcile still run, and reach the cluster?",
			s.At.UTC().Format(time.RFC3339), duration.Words(age.Round(time.Minute)), duration.Words(limit))
	case age < -limit:
		return fmt.Errorf("its status is as of %s, which is still to come: one of the clocks is wrong", s.At.UTC().Format(time.RFC3339))
	}
	return nil
}
