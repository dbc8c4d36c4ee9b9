package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TakenError reports that a foreign object in the cluster has the pool's name.
type TakenError struct {
	Kind, Key, UID string
	Lost           bool // the pool's own was deleted
	Recorded       bool // the store has a record of the pool
}

// Error says which object has the name, and what to do.
func (e *TakenError) Error() string {
	text := fmt.Sprintf("the %s %s (uid %s) is not managed by gpupool and was not changed. ", e.Kind, e.Key, e.UID)
	if e.Lost {
		text += "The one that gpupool created is gone. "
	}
	text += fmt.Sprintf("Rename the stock pool; delete that %s; or ", e.Kind)
	switch {
	case e.Kind != "Deployment":
		return text + "omit pod_disruption_budget"
	case e.Recorded:
		return text + "destroy this stock pool, which leaves it, then run terraform import ADDRESS " + e.Key
	}
	return text + "remove the stock pool from the state and run terraform import ADDRESS " + e.Key
}

// NamespaceError says that the pool's namespace is missing.
type NamespaceError struct{ Namespace string }

func (e *NamespaceError) Error() string {
	return fmt.Sprintf("the cluster has no namespace %s: create it first, and have the stock pool depend on it", e.Namespace)
}

func refuseNamespace(v View, t Tally) (Tally, Result) {
	return t, Result{Refused: &NamespaceError{Namespace: v.Declaration.Namespace}}
}

// refuseForeign leaves a foreign Deployment untouched.
func refuseForeign(v View, t Tally) (Tally, Result) {
	return t, Result{Refused: &TakenError{
		Kind: "Deployment", Key: v.Declaration.Key(), UID: string(v.Observation.Deployment.UID), Lost: v.Journal.DeploymentUID != "", Recorded: v.Recorded,
	}}
}

// create creates a Deployment with as many replicas as the deleted one left pods. It adopts
// their ReplicaSets, and would otherwise scale them down. If a budget pauses the pool, it
// starts empty.
func create(v View, t Tally) (Tally, Result) {
	of := stockpool.Decision{Kind: stockpool.KindCreate, Reasons: []string{"it has no Deployment yet"}}
	if v.Journal.DeploymentUID != "" {
		of.Reasons = []string{"its Deployment was deleted"}
	}
	if v.pausing() == nil {
		of.Replicas = v.Observation.Remaining()
	}
	return t, Result{Decisions: []stockpool.Decision{of}}
}

// takeOver records a Deployment as the pool's own. It must have one container: with several,
// none is known to be the runtime.
func takeOver(v View, t Tally) (Tally, Result) {
	if n := len(v.Observation.Deployment.Spec.Template.Spec.Containers); n != 1 {
		return t, Result{Refused: fmt.Errorf("the Deployment %s has %d containers, and a stock pool has one: it was not changed. Give the stock pool "+
			"another name", v.Declaration.Key(), n)}
	}
	reason := "the declaration takes it over"
	if v.Journal.Opened != "" {
		reason = "an interrupted run created it"
	}
	has := v.Observation.Replicas()
	return t, Result{Decisions: []stockpool.Decision{{Kind: stockpool.KindOwn, Was: has, Replicas: has, Reasons: []string{reason}}}}
}
