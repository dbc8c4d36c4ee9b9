package gpu

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// clockSkew is by how much the clocks of a cluster may differ: a time so far
// ahead is taken for now. One further ahead is a mistake.
const clockSkew = 5 * time.Minute

// firstYear is before everything that a Kubernetes can have seen.
const firstYear = 2000

// moments judges the times that a pod's status gives.
type moments struct {
	now    time.Time // whatever is still to come is not told yet
	latest time.Time // the newest time that can be true: now, or when the pod was read
	doubts *doubts
}

// believe returns a time in UTC; false for one that is missing or can't be
// true. An unset time of a container runtime reaches the status as the beginning
// of 1970, or of year 1.
func (m moments) believe(what string, t time.Time) (time.Time, bool) {
	switch {
	case t.IsZero(), t.Unix() == 0:
		return time.Time{}, false
	case t.Year() < firstYear:
		m.doubts.addf("%s is %s, before there was a Kubernetes: not believed", what, t.UTC().Format(time.RFC3339))
		return time.Time{}, false
	case t.After(m.latest.Add(clockSkew)):
		m.doubts.addf("%s is %s, in the future: not believed", what, t.UTC().Format(time.RFC3339))
		return time.Time{}, false
	case t.After(m.latest):
		return m.latest, true
	}
	return t.UTC(), true
}

func (m moments) believed(what string, t *metav1.Time) (time.Time, bool) {
	if t == nil {
		return time.Time{}, false
	}
	return m.believe(what, t.Time)
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}
