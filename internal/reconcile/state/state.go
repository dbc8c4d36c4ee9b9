// Package state is the list of words for how a declared object is. All kinds share it, and
// tables, JSON and guides use it alike.
package state

import (
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
)

// State is the state of an object. Tables and JSON use the same words.
type State string

// The states.
const (
	InSync      State = "InSync"      // observed, and a run would change nothing
	OutOfSync   State = "OutOfSync"   // a run would change it
	Changed     State = "Changed"     // this run changed it
	Progressing State = "Progressing" // instances launch or join, or a rollout is in progress
	Draining    State = "Draining"    // nodes drain, and a run would change nothing else
	Drained     State = "Drained"     // an exceeded budget drained it
	Creating    State = "Creating"    // its creation is incomplete: apply again
	Deleting    State = "Deleting"    // its deletion is incomplete
	Deleted     State = "Deleted"     // this run finished its deletion
	Short       State = "Short"       // fewer instances, or pods, than desired
	Oversized   State = "Oversized"   // more instances than the maximum
	Pending     State = "Pending"     // no pod is ready yet
	Degraded    State = "Degraded"    // nodes fail or are ambiguous, or pods are missing and nothing is in progress
	Blocked     State = "Blocked"     // a budget keeps it from growing
	OnHold      State = "OnHold"      // an operator paused its reconciliation
	Freezing    State = "Freezing"    // a freeze was requested
	Frozen      State = "Frozen"      // new GPU pods are blocked
	Pausing     State = "Pausing"     // pauses were requested
	Paused      State = "Paused"      // no paused workload holds a GPU
	Evicting    State = "Evicting"    // evictions were requested
	Ineffective State = "Ineffective" // an enforcement had no effect in time
	WithinLimit State = "WithinLimit" // below the limit and the alert thresholds
	NearLimit   State = "NearLimit"   // above an alert threshold
	Exceeded    State = "Exceeded"    // at or above the limit
	AlertOnly   State = "AlertOnly"   // exceeded, and the budget enforces nothing
	Failing     State = "Failing"     // the last runs failed, or this one did
	Skipped     State = "Skipped"     // this run left it out
	Unknown     State = "Unknown"     // not observed
)

// States returns all states.
func States() []State {
	return []State{
		InSync, OutOfSync, Changed, Progressing, Draining, Drained, Creating, Deleting, Deleted, Short, Oversized, Pending,
		Degraded, Blocked, OnHold, Freezing, Frozen, Pausing, Paused, Evicting, Ineffective, WithinLimit, NearLimit,
		Exceeded, AlertOnly, Failing, Skipped, Unknown,
	}
}

// Join lists states as kubectl lists those of a node: "Exceeded,Freezing".
func Join(states []State) string {
	texts := make([]string, len(states))
	for n, s := range states {
		texts[n] = string(s)
	}
	return strings.Join(texts, ",")
}

// OfPhase is the state of a record that is being created or deleted; empty if it is neither.
func OfPhase(phase declaration.Phase) State {
	switch phase {
	case declaration.Creating:
		return Creating
	case declaration.Deleting:
		return Deleting
	}
	return ""
}
