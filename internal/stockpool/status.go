package stockpool

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Phase says how a stock pool is, in a word.
type Phase string

// The phases. One that could not be looked at has none.
const (
	Pending     Phase = "Pending"     // no pod of it is ready yet
	Progressing Phase = "Progressing" // a rollout is under way
	Ready       Phase = "Ready"       // all that is declared is there
	Degraded    Phase = "Degraded"    // something is missing, and nothing is under way
	Paused      Phase = "Paused"      // a budget has it scaled to zero
)

// Phases are all phases, the best first.
func Phases() []Phase { return []Phase{Ready, Progressing, Pending, Paused, Degraded} }

// Status is how a stock pool is.
type Status struct {
	Phase Phase `json:"phase,omitempty"`
	// Desired is how many pods it is to have now, and Replicas how many there are;
	// Allocated of these are in use, and Available are ready and not in use.
	Desired   int `json:"desired"`
	Replicas  int `json:"replicas"`
	Allocated int `json:"allocated"`
	Available int `json:"available"`
	// Waiting is how many have no node, as none has room.
	Waiting int `json:"waiting"`
	// Fewest is how many a scale-down has to leave so that none in use ends.
	Fewest int `json:"-"`
	// ObservedGeneration is that of the declaration which was last applied.
	ObservedGeneration int64       `json:"observed_generation"`
	SyncedAt           time.Time   `json:"synced_at,omitzero"`
	DeploymentUID      string      `json:"deployment_uid,omitempty"`
	Conditions         []Condition `json:"conditions,omitempty"`
}

// Condition is one thing that is so or not, and why.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"` // True, False or Unknown
	Reason  string `json:"reason"`
	Message string `json:"message,omitempty"`
}

// The types of conditions.
const (
	Synced       = "Synced"       // the Deployment is as declared
	WithinBudget = "WithinBudget" // no budget holds it back
	Scheduled    = "Scheduled"    // each pod has a node
	Started      = "Started"      // each pod with a node runs
	RolledOut    = "RolledOut"    // all pods are as the Deployment is now
	Stocked      = "Stocked"      // as many are available as are to be kept so; where that is kept
)

// Of is a condition of a type; the zero value where there is none.
func (s Status) Of(kind string) Condition {
	for _, c := range s.Conditions {
		if c.Type == kind {
			return c
		}
	}
	return Condition{}
}

// Settled says whether nothing is under way that would make more pods ready: they are,
// or a budget or the maximum keeps the others back.
func (s Status) Settled() bool {
	held := s.Of(WithinBudget).Status != "True" || s.Of(Stocked).Reason == AtMaximum
	all := s.Of(RolledOut).Status == "True" && s.Allocated+s.Available >= s.Desired
	return s.Phase == Ready || s.Phase == Paused || held && all
}

// AtMaximum is the reason of Stocked where the pool may have no more pods.
const AtMaximum = "AtMaximum"

func (d *decider) status() Status {
	j := d.plan.Journal
	s := Status{ObservedGeneration: j.Generation, SyncedAt: j.SyncedAt, DeploymentUID: j.DeploymentUID}
	if !d.Seen.Looked() {
		return s
	}
	s.Desired = d.plan.Replicas
	if d.own() {
		for _, p := range d.Seen.Pods {
			d.add(&s, p)
		}
		s.Fewest, _ = d.fewest()
	}
	s.Conditions = []Condition{d.synced(), d.withinBudget(), d.scheduled(s.Waiting), d.started(), d.rolledOut()}
	if d.Declaration.Keep == KeepAvailable {
		s.Conditions = append(s.Conditions, d.stocked(s))
	}
	s.Phase = d.phase(s)
	return s
}

// add counts a pod.
func (d *decider) add(s *Status, p Pod) {
	counts, _ := d.standing(p)
	if counts == CountsNothing {
		return
	}
	s.Replicas++
	switch counts {
	case CountsInUse:
		s.Allocated++
	case CountsAvailable:
		s.Available++
	}
	if p.Unschedulable != "" {
		s.Waiting++
	}
}

func (d *decider) phase(s Status) Phase {
	of := d.Seen.Deployment
	serving := s.Allocated + s.Available
	switch {
	case d.pausing() != nil && s.Desired == 0 && (of == nil || replicasOf(of) == 0):
		return Paused
	case d.plan.Refused != nil:
		return Degraded
	case !d.own():
		return Pending
	case s.Of(RolledOut).Status == "True" && serving >= s.Desired && len(d.plan.Decisions) == 0 && s.Desired >= d.asked && s.Of(Stocked).Status != "False":
		return Ready
	case serving == 0 && !failed(of):
		return Pending
	case s.Of(RolledOut).Status == "Unknown", len(d.plan.Decisions) > 0:
		return Progressing
	}
	return Degraded
}

func condition(kind string, is bool, reason, message string) Condition {
	status := "False"
	if is {
		status = "True"
	}
	return Condition{Type: kind, Status: status, Reason: reason, Message: message}
}

func (d *decider) synced() Condition {
	if err := d.plan.Refused; err != nil {
		return condition(Synced, false, "Refused", err.Error())
	}
	for _, of := range d.plan.Decisions {
		return condition(Synced, false, "Changes", of.String())
	}
	switch {
	case d.plan.Ask:
		return Condition{
			Type: Synced, Status: "Unknown", Reason: "Changed", Message: "somebody changed its Deployment, and whether what is declared is touched by that " +
				"the next run asks",
		}
	case d.Seen.Deployment.DeletionTimestamp != nil:
		return condition(Synced, false, "Deleting", "its Deployment is being deleted, and is created anew once it is gone")
	case d.kept != "":
		return condition(Synced, false, "PodsInUse", d.kept)
	}
	return condition(Synced, true, "Applied", "")
}

// withinBudget names all budgets that hold the pool back. That one is used up is so
// whatever is not known of others.
func (d *decider) withinBudget() Condition {
	reasons := strings.Join(d.heldBack(), "; ")
	switch {
	case slices.ContainsFunc(d.Covers, func(c Cover) bool { return c.Exceeded && !c.Unknown }):
		return condition(WithinBudget, false, "Exceeded", reasons)
	case reasons != "":
		return Condition{Type: WithinBudget, Status: "Unknown", Reason: "UnknownUse", Message: reasons}
	}
	return condition(WithinBudget, true, cmp.Or(map[bool]string{true: "NoBudget"}[len(d.Covers) == 0], "BelowLimit"), "")
}

// stocked says whether as many pods are available as the pool keeps so.
func (d *decider) stocked(s Status) Condition {
	wanted := d.Declaration.Replicas
	text := fmt.Sprintf("%d of %d %s available, and %d %s in use", s.Available, wanted, isAre(wanted), s.Allocated, isAre(s.Allocated))
	switch {
	case s.Available >= wanted:
		return condition(Stocked, true, "Available", "")
	case s.Allocated+wanted > d.Declaration.Maximum:
		return condition(Stocked, false, AtMaximum, fmt.Sprintf("%s: its maximum of %d keeps it from more. Raise maximum, or give pods back", text,
			d.Declaration.Maximum))
	}
	return condition(Stocked, false, "Short", text)
}

// scheduled says why pods wait for a node, as the scheduler does.
func (d *decider) scheduled(waiting int) Condition {
	if waiting == 0 {
		return condition(Scheduled, true, "Scheduled", "")
	}
	n := slices.IndexFunc(d.Seen.Pods, func(p Pod) bool { return !p.Ended() && p.Unschedulable != "" })
	why := preemption.ReplaceAllString(d.Seen.Pods[n].Unschedulable, "")
	return condition(Scheduled, false, "NoRoom", fmt.Sprintf("%d %s for a node: %s", waiting, wording.Plural(waiting, "pod waits", "pods wait"), why))
}

// started says why pods that have a node do not run.
func (d *decider) started() Condition {
	stuck := map[string]int{}
	for _, p := range d.Seen.Pods {
		if !p.Ended() && p.Waiting != "" {
			stuck[p.Waiting]++
		}
	}
	if len(stuck) == 0 {
		return condition(Started, true, "Started", "")
	}
	var list []string
	for reason, n := range stuck {
		list = append(list, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(list)
	return condition(Started, false, "Waiting", strings.Join(list, ", "))
}

func (d *decider) rolledOut() Condition {
	of := d.Seen.Deployment
	switch {
	case !d.own():
		return condition(RolledOut, false, "NoDeployment", "")
	case of.Spec.Paused:
		return condition(RolledOut, false, "Paused", fmt.Sprintf("somebody paused its Deployment, and changes don't reach its pods: kubectl rollout resume "+
			"deployment/%s -n %s", of.Name, of.Namespace))
	case failed(of):
		return condition(RolledOut, false, "ProgressDeadlineExceeded", message(of, appsv1.DeploymentProgressing))
	case message(of, appsv1.DeploymentReplicaFailure) != "":
		return condition(RolledOut, false, "ReplicaFailure", message(of, appsv1.DeploymentReplicaFailure))
	case of.Status.ObservedGeneration < of.Generation || int(of.Status.UpdatedReplicas) < replicasOf(of) || of.Status.Replicas > of.Status.UpdatedReplicas:
		text := fmt.Sprintf("%d of %d pods are as the Deployment is now", min(int(of.Status.UpdatedReplicas), replicasOf(of)), replicasOf(of))
		if older := int(of.Status.Replicas - of.Status.UpdatedReplicas); older > 0 {
			text += fmt.Sprintf(", and %d older %s left", older, wording.Plural(older, "one is", "ones are"))
		}
		return Condition{Type: RolledOut, Status: "Unknown", Reason: "Progressing", Message: text}
	}
	return condition(RolledOut, true, "Complete", "")
}

// failed says whether a rollout took longer than the Deployment's own deadline.
func failed(of *appsv1.Deployment) bool {
	return of != nil && slices.ContainsFunc(of.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// message is what a Deployment says of a condition that is trouble; empty where it is
// not.
func message(of *appsv1.Deployment, kind appsv1.DeploymentConditionType) string {
	trouble := corev1.ConditionTrue
	if kind == appsv1.DeploymentProgressing {
		trouble = corev1.ConditionFalse
	}
	for _, c := range of.Status.Conditions {
		if c.Type == kind && c.Status == trouble {
			return c.Message
		}
	}
	return ""
}
