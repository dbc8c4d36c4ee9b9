package decide

import (
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/drift"
)

// View is the input of rules: a situation, and what follows from it before any decision. No
// rule changes it.
type View struct {
	Situation
	used labels.Selector // selects the pods in use; nil without allocated_selector
}

// begin returns the view of a situation. It omits a budget that counts the pods only by drift,
// if that drift is about to be reverted.
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

// replaces reports whether a rollout is about to delete the pods because of which a budget
// covers the pool.
func (v View) replaces(c Cover) bool {
	if v.own() == nil || v.Observation.Replicas() == 0 || !v.Now.Before(c.WaitsUntil) {
		return false
	}
	return v.reverts() || v.rolledOut().Status == unknown
}

// reverts reports whether an application is due that may revert drift.
func (s Situation) reverts() bool {
	live, j := s.own(), s.Journal
	switch {
	case s.Reverted || live == nil || j.Applied == "":
		return false
	case j.Applied != s.Declaration.Hash(j.Container):
		return true
	}
	return j.Drifted(live) && (s.Observation.WouldBe == nil || len(drift.Changes(live, s.Observation.WouldBe)) > 0)
}

// own returns the pool's own Deployment; nil if none was observed.
func (s Situation) own() *appsv1.Deployment {
	of := s.Observation.Deployment
	if of == nil || s.Journal.DeploymentUID == "" || string(of.UID) != s.Journal.DeploymentUID {
		return nil
	}
	return of
}

// canTakeOver reports whether an unrecorded Deployment is the pool's: the declaration takes it over,
// or an interrupted creation made it.
func (s Situation) canTakeOver() bool {
	of, j := s.Observation.Deployment, s.Journal
	switch {
	case of == nil || s.own() != nil:
		return false
	case j.Opened != "" && of.Annotations[stockpool.AnnotationOpened] == j.Opened:
		return true
	}
	return j.DeploymentUID == "" && j.Opened == "" && s.Declaration.DeploymentUID == string(of.UID)
}

// Mine reports whether the observed Deployment is the pool's own, or would become it.
func (s Situation) Mine() bool { return s.own() != nil || s.canTakeOver() }

// pausing returns a budget that pauses the pool now; nil if none does.
func (v View) pausing() *Cover {
	n := slices.IndexFunc(v.Covers, func(c Cover) bool { return c.Exceeded && c.Pauses && !c.Unknown })
	if n < 0 {
		return nil
	}
	return &v.Covers[n]
}

// growthBlockers returns why the pool may not grow; nil if it may.
func (v View) growthBlockers() reason.Reasons {
	var reasons reason.Reasons
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
