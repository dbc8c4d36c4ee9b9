package gpu

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// clockSkew is by how much the clocks of a cluster may differ: a time so far
// ahead is taken for now. One further ahead is a mistake.
const clockSkew = 5 * 60 * second

// firstYear is before everything that a Kubernetes can have seen.
const firstYear = 2000

// moments judges the times that a pod's status gives.
type moments struct {
	now    ledger.Time // whatever is still to come is not told yet
	latest ledger.Time // the newest time that can be true: now, or when the pod was read
	doubts *doubts
}

// believe returns a time of the pod's; false for one that is missing or can't be
// true. An unset time of a container runtime reaches the status as the beginning
// of 1970, or of year 1.
func (m moments) believe(what string, t time.Time) (ledger.Time, bool) {
	switch at := ledger.TimeOf(t); {
	case t.IsZero(), t.Unix() == 0:
		return 0, false
	case t.Year() < firstYear:
		m.doubts.addf("%s is %s, before there was a Kubernetes: not believed", what, t.UTC().Format(time.RFC3339))
		return 0, false
	case at > m.latest+clockSkew:
		m.doubts.addf("%s is %s, in the future: not believed", what, t.UTC().Format(time.RFC3339))
		return 0, false
	default:
		return min(at, m.latest), true
	}
}

func (m moments) believed(what string, t *metav1.Time) (ledger.Time, bool) {
	if t == nil {
		return 0, false
	}
	return m.believe(what, t.Time)
}
