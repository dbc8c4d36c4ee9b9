package decide

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// TakenError says that what has the pool's name in the cluster is not the pool's own.
type TakenError struct {
	Kind, Key, UID string
	Lost           bool // the pool had one, which is gone
	Recorded       bool // the store has a record of the pool
}

// Error says whose it is not, and what to do.
func (e *TakenError) Error() string {
	text := fmt.Sprintf("there is a %s %s (uid %s) that gpupool did not make: it was left untouched. ", e.Kind, e.Key, e.UID)
	if e.Lost {
		text += "The one that gpupool made is gone. "
	}
	text += fmt.Sprintf("Give the stock pool another name, delete that %s, or ", e.Kind)
	switch {
	case e.Kind != "Deployment":
		return text + "leave out pod_disruption_budget"
	case e.Recorded:
		return text + "take it over: destroy this stock pool, which leaves that Deployment, and then terraform import ADDRESS " + e.Key
	}
	return text + "take it over: terraform import ADDRESS " + e.Key + ", after terraform state rm where the state has this stock pool"
}

// NamespaceError says that the pool's namespace is missing.
type NamespaceError struct{ Namespace string }

// Error says which, and what to do.
func (e *NamespaceError) Error() string {
	return fmt.Sprintf("the cluster has no namespace %s: create it first, and have the stock pool depend on it", e.Namespace)
}

func refuseNamespace(v View, t Tally) (Tally, Result) {
	return t, Result{Refused: &NamespaceError{Namespace: v.Declaration.Namespace}}
}

// refuseForeign leaves a Deployment alone that is not the pool's.
func refuseForeign(v View, t Tally) (Tally, Result) {
	return t, Result{Refused: &TakenError{
		Kind: "Deployment", Key: v.Declaration.Key(), UID: string(v.Observation.Deployment.UID), Lost: v.Journal.DeploymentUID != "", Recorded: v.Recorded,
	}}
}

// create has a Deployment be created, with as many replicas as there are pods of the one
// that was deleted, whose ReplicaSets it adopts and would scale down. A budget that pauses
// the pool has it start empty.
func create(v View, t Tally) (Tally, Result) {
	of := stockpool.Decision{Kind: stockpool.KindCreate, Reasons: []string{"it has no Deployment yet"}}
	if v.Journal.DeploymentUID != "" {
		of.Reasons = []string{"somebody deleted its Deployment"}
	}
	if v.pausing() == nil {
		of.Replicas = v.Observation.Remaining()
	}
	return t, Result{Decisions: []stockpool.Decision{of}}
}

// takeOver writes down a Deployment that has one container: which of several is the
// runtime nobody said.
func takeOver(v View, t Tally) (Tally, Result) {
	if n := len(v.Observation.Deployment.Spec.Template.Spec.Containers); n != 1 {
		return t, Result{Refused: fmt.Errorf("the Deployment %s has %d containers, and a stock pool has one: it was left untouched. Give the stock pool "+
			"another name", v.Declaration.Key(), n)}
	}
	reason := "it is the one that the declaration takes over"
	if v.Journal.Opened != "" {
		reason = "a run that was cut short created it"
	}
	has := v.Observation.Replicas()
	return t, Result{Decisions: []stockpool.Decision{{Kind: stockpool.KindOwn, Was: has, Replicas: has, Reasons: []string{reason}}}}
}
