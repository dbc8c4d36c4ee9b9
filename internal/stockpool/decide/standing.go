package decide

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Standing is one pod of a pool, and what it counts as.
type Standing struct {
	// The pod's name.
	Pod string `json:"pod"`
	// The name of its node.
	Node string `json:"node,omitempty"`
	// How the pod counts.
	CountsAs CountsAs `json:"counts_as"`
	// Why.
	Why reason.Reason `json:"why,omitzero"`
}

// For returns the standing as a reader of the stock pool may see it.
func (s Standing) For(reader reason.Renderer) Standing {
	s.Why = reader.Redact(s.Why)
	return s
}

// CountsAs is the category of a pod.
type CountsAs string

// All but nothing count as one of the pool's replicas.
const (
	CountsAvailable CountsAs = "available"
	CountsInUse     CountsAs = "in use"
	CountsPending   CountsAs = "pending"
	CountsNothing   CountsAs = "nothing"
)

// Standings returns the pods of a pool by name; none if the Deployment is foreign.
func Standings(s Situation) []Standing {
	v := begin(s)
	list := []Standing{}
	if v.own() == nil {
		return list
	}
	for _, p := range s.Observation.Pods {
		counts, why := v.standing(p)
		list = append(list, Standing{Pod: p.Name, Node: p.Node, CountsAs: counts, Why: why})
	}
	slices.SortFunc(list, func(a, b Standing) int { return strings.Compare(a.Pod, b.Pod) })
	return list
}

func (v View) standing(p stockpool.Pod) (counts CountsAs, why reason.Reason) {
	switch {
	case p.Ending:
		return CountsNothing, reason.PodEnding()
	case p.Ended():
		return CountsNothing, reason.PodEnded(reason.NewValue(p.Phase))
	case v.inUse(p):
		return CountsInUse, reason.PodSelected()
	case p.Mismatch != "":
		return CountsPending, reason.PodDiffers(reason.NewValue(p.Mismatch))
	case p.Ready:
		return CountsAvailable, reason.PodIdle()
	case p.Unschedulable != "":
		return CountsPending, reason.PodUnfit()
	case p.Waiting != "":
		return CountsPending, reason.PodStuck(reason.NewValue(p.Waiting))
	case p.Node == "":
		return CountsPending, reason.PodUnassigned()
	}
	return CountsPending, reason.PodUnready()
}
