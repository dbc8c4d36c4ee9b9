package gpu

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// clockSkew is by how much the clocks of a cluster may differ. A time up to that far ahead counts
// as now; one further ahead is an error.
const clockSkew = 5 * 60 * second

// firstYear is before any time that Kubernetes can report.
const firstYear = 2000

// moments validates the times of a pod's status.
type moments struct {
	now    ledger.Time // a later time has not happened yet
	latest ledger.Time // the latest plausible time: now, or when the pod was read
	doubts *doubts
}

// believe returns a time of the pod; false if it is missing or implausible. An unset time of a
// container runtime reaches the status as the beginning of 1970 or of year 1.
func (m moments) believe(field reason.Word, t time.Time) (ledger.Time, bool) {
	switch at := ledger.TimeOf(t); {
	case t.IsZero(), t.Unix() == 0:
		return 0, false
	case t.Year() < firstYear:
		m.doubts.add(reason.TimeImpossible(field, reason.Instant{Time: t.UTC()}))
		return 0, false
	case at > m.latest+clockSkew:
		m.doubts.add(reason.TimeInFuture(field, reason.Instant{Time: t.UTC()}))
		return 0, false
	default:
		return min(at, m.latest), true
	}
}

func (m moments) check(field reason.Word, t *metav1.Time) (ledger.Time, bool) {
	if t == nil {
		return 0, false
	}
	return m.believe(field, t.Time)
}
