package decide

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// View is what rules decide by: a situation, and what follows from it before anything is
// decided. No rule changes it.
type View struct {
	Situation
	used labels.Selector // selects the pods in use; nil where nothing says which are
}

// begin is the view of a situation. A budget that counts the pods by what others made of
// the Deployment is left out while that is to be reverted: what is left then decides.
func begin(s Situation) View {
	v := View{Situation: s}
	if text := s.Declaration.AllocatedSelector; text != "" {
		v.used, _ = labels.Parse(text) // a valid declaration has a selector
	}
	reverts := s.reverts()
	v.Covers = slices.DeleteFunc(slices.Clone(s.Covers), func(c Cover) bool {
		return reverts && c.ByDrift || c.ByPods && v.replaces(c)
	})
	return v
}

// replaces says whether a rollout is about to end the pods by which alone a budget covers the
// pool: what it made of the declaration's pods would end with them.
func (v View) replaces(c Cover) bool {
	if v.own() == nil || v.Observation.Replicas() == 0 || !v.Now.Before(c.WaitsUntil) {
		return false
	}
	return v.reverts() || v.rolledOut().Status == unknown
}

// reverts says whether an application is due that may revert what others made of the
// Deployment.
func (s Situation) reverts() bool {
	live, j := s.own(), s.Journal
	switch {
	case s.Reverted || live == nil || j.Applied == "":
		return false
	case j.Applied != s.Declaration.Sum(j.Container):
		return true
	}
	return j.Drifted(live) && (s.Observation.WouldBe == nil || len(drift.Changes(live, s.Observation.WouldBe)) > 0)
}

// own is the pool's own Deployment; nil where none was observed.
func (s Situation) own() *appsv1.Deployment {
	of := s.Observation.Deployment
	if of == nil || s.Journal.DeploymentUID == "" || string(of.UID) != s.Journal.DeploymentUID {
		return nil
	}
	return of
}

// mayOwn says whether a Deployment that is not written down yet is the pool's: the one
// that its declaration takes over, or one that a creation that was cut short made.
func (s Situation) mayOwn() bool {
	of, j := s.Observation.Deployment, s.Journal
	switch {
	case of == nil || s.own() != nil:
		return false
	case j.Opened != "" && of.Annotations[stockpool.AnnotationOpened] == j.Opened:
		return true
	}
	return j.DeploymentUID == "" && j.Opened == "" && s.Declaration.DeploymentUID == string(of.UID)
}

// Mine says whether the Deployment that was observed is the pool's own, or would become it.
func (s Situation) Mine() bool { return s.own() != nil || s.mayOwn() }

// pausing is a budget that wants the pool stopped now; nil where none does.
func (v View) pausing() *Cover {
	n := slices.IndexFunc(v.Covers, func(c Cover) bool { return c.Exceeded && c.Pauses && !c.Unknown })
	if n < 0 {
		return nil
	}
	return &v.Covers[n]
}

// heldBack is why the pool may not grow; nil where it may.
func (v View) heldBack() []string {
	var reasons []string
	for _, c := range v.Covers {
		if c.Exceeded || c.Unknown {
			reasons = append(reasons, c.Reason)
		}
	}
	return reasons
}

func (v View) inUse(p stockpool.Pod) bool {
	return v.used != nil && !p.Ended() && v.used.Matches(labels.Set(p.Labels))
}

func (v View) taken() int {
	n := 0
	for _, p := range v.Observation.Pods {
		if v.inUse(p) {
			n++
		}
	}
	return n
}
