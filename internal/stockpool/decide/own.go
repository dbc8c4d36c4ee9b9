package decide

import (
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// Refusal is why nothing is done although something should be.
type Refusal interface {
	error
	Because() reason.Reason
}

// TakenError reports that a foreign object in the cluster has the pool's name.
type TakenError struct {
	Kind, Key, UID string
	Lost           bool // the pool's own was deleted
	Recorded       bool // the store has a record of the pool
}

// Because says which object has the name, and what to do.
func (e *TakenError) Because() reason.Reason {
	foreign := reason.NotManaged(reason.Word(e.Kind), reason.Word(e.Key), reason.Word(e.UID))
	if e.Lost {
		foreign = reason.OwnIsGone(foreign)
	}
	switch {
	case e.Kind != "Deployment":
		return reason.GuardTaken(foreign)
	case e.Recorded:
		return reason.DeploymentTakenRecorded(foreign, reason.Word(e.Key))
	}
	return reason.DeploymentTaken(foreign, reason.Word(e.Key))
}

func (e *TakenError) Error() string { return e.Because().String() }

// NamespaceError says that the pool's namespace is missing.
type NamespaceError struct{ Namespace string }

// Because names the namespace.
func (e *NamespaceError) Because() reason.Reason {
	return reason.NamespaceMissing(reason.Word(e.Namespace))
}

func (e *NamespaceError) Error() string { return e.Because().String() }

// ContainersError says that a Deployment to take over has another number of containers than one.
type ContainersError struct {
	Key        string
	Containers int
}

// Because names the Deployment.
func (e *ContainersError) Because() reason.Reason {
	return reason.SeveralContainers(reason.Word(e.Key), reason.Count(e.Containers))
}

func (e *ContainersError) Error() string { return e.Because().String() }

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
	of := stockpool.Decision{Kind: stockpool.KindCreate, Reasons: reason.Reasons{reason.DeploymentMissing()}}
	if v.Journal.DeploymentUID != "" {
		of.Reasons = reason.Reasons{reason.DeploymentDeleted()}
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
		return t, Result{Refused: &ContainersError{Key: v.Declaration.Key(), Containers: n}}
	}
	why := reason.TakesOver()
	if v.Journal.Opened != "" {
		why = reason.InterruptedCreated()
	}
	has := v.Observation.Replicas()
	return t, Result{Decisions: []stockpool.Decision{{Kind: stockpool.KindOwn, Was: has, Replicas: has, Reasons: reason.Reasons{why}}}}
}
