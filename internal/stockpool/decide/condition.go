package decide

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

func (v View) status(t Tally, r Result) Status {
	j := t.journal
	s := Status{ObservedGeneration: j.Generation, SyncedAt: j.SyncedAt, DeploymentUID: j.DeploymentUID}
	if !v.Observation.Known() {
		return s
	}
	s.Desired = t.replicas
	if v.own() != nil {
		s = v.count(s)
	}
	s.Conditions = []Condition{v.synced(t, r), v.withinBudget(), v.scheduled(s.Waiting), v.started(), v.rolledOut()}
	if v.Declaration.ReplicasPolicy == stockpool.ReplicasAvailable {
		s.Conditions = append(s.Conditions, stocked(v.Declaration, s))
	}
	s.Phase = v.phase(s, t, r)
	return s
}

// holding returns the pods that hold GPUs, including those that are being deleted.
func (v View) holding() (names []string) {
	for _, p := range v.Observation.Pods {
		if p.Holds() {
			names = append(names, p.Name)
		}
	}
	slices.Sort(names)
	return names
}

func (v View) count(s Status) Status {
	for _, p := range v.Observation.Pods {
		counts, _ := v.standing(p)
		if counts == CountsNothing {
			continue
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
	// A pod can carry any label and be made to look like one of the pool's. Its controller's
	// counts cannot be forged that way.
	of := v.Observation.Deployment.Status
	s.Replicas, s.Allocated = min(s.Replicas, int(of.Replicas)), min(s.Allocated, int(of.Replicas))
	s.Available = min(s.Available, int(of.ReadyReplicas))
	s.Fewest, _ = v.fewest()
	return s
}

func (v View) phase(s Status, t Tally, r Result) Phase {
	of := v.Observation.Deployment
	serving := s.Allocated + s.Available
	switch {
	case v.pausing() != nil && s.Desired == 0 && v.Observation.Replicas() == 0:
		if len(v.holding()) > 0 {
			return Pausing
		}
		return Paused
	case r.Refused != nil:
		return Degraded
	case v.own() == nil:
		return Pending
	case s.Of(RolledOut).Status == yes && serving >= s.Desired && len(r.Decisions) == 0 && s.Desired >= t.unheld && s.Of(Stocked).Status != no:
		return Ready
	case serving == 0 && !failed(of):
		return Pending
	case s.Of(RolledOut).Status == unknown, len(r.Decisions) > 0:
		return Progressing
	}
	return Degraded
}

func (v View) synced(t Tally, r Result) Condition {
	if err := r.Refused; err != nil {
		return Condition{Synced, no, "Refused", err.Error()}
	}
	for _, of := range r.Decisions {
		return Condition{Synced, no, "Changes", of.String()}
	}
	switch {
	case r.Ask:
		return Condition{Synced, unknown, "Changed", "its Deployment was changed; the next run checks whether declared fields are affected"}
	case v.Observation.Deployment.DeletionTimestamp != nil:
		return Condition{Synced, no, "Deleting", "its Deployment is being deleted, and is created again once it is gone"}
	case t.kept != "":
		return Condition{Synced, no, "PodsInUse", t.kept}
	}
	if fields := t.undeclared; len(fields) > 0 {
		return Condition{Synced, no, "Drifted", "its Deployment has undeclared fields: " + listed(fields)}
	}
	return Condition{Synced, yes, "Applied", ""}
}

// withinBudget names all budgets that limit the pool. An exhausted budget counts even if
// another one's usage is unknown.
func (v View) withinBudget() Condition {
	reasons := strings.Join(v.growthBlockers(), "; ")
	switch {
	case slices.ContainsFunc(v.Covers, func(c Cover) bool { return c.Exceeded && !c.Unknown }):
		return Condition{WithinBudget, no, "Exceeded", reasons}
	case reasons != "":
		return Condition{WithinBudget, unknown, "UnknownUse", reasons}
	}
	return Condition{WithinBudget, yes, cmp.Or(map[bool]string{true: "NoBudget"}[len(v.Covers) == 0], "BelowLimit"), ""}
}

func stocked(d stockpool.Declaration, s Status) Condition {
	wanted := d.Replicas
	text := fmt.Sprintf("%d of %d %s available, and %d %s in use", s.Available, wanted, isOrAre(wanted), s.Allocated, isOrAre(s.Allocated))
	switch {
	case s.Available >= wanted:
		return Condition{Stocked, yes, "Available", ""}
	case s.Allocated+wanted > d.Maximum:
		return Condition{Stocked, no, AtMaximum, fmt.Sprintf("%s: it has reached its maximum of %d. Raise maximum, or release pods", text,
			d.Maximum)}
	}
	return Condition{Stocked, no, "Short", text}
}

// scheduled reports the scheduler's reason why pods are pending.
func (v View) scheduled(waiting int) Condition {
	if waiting == 0 {
		return Condition{Scheduled, yes, "Scheduled", ""}
	}
	n := slices.IndexFunc(v.Observation.Pods, func(p stockpool.Pod) bool { return !p.Ended() && p.Unschedulable != "" })
	why := preemption.ReplaceAllString(v.Observation.Pods[n].Unschedulable, "")
	return Condition{Scheduled, no, "NoRoom", fmt.Sprintf("%d %s for a node: %s", waiting, wording.Plural(waiting, "pod waits", "pods wait"), why)}
}

// started reports why scheduled pods do not run.
func (v View) started() Condition {
	stuck := map[string]int{}
	for _, p := range v.Observation.Pods {
		if !p.Ended() && p.Waiting != "" {
			stuck[p.Waiting]++
		}
	}
	if len(stuck) == 0 {
		return Condition{Started, yes, "Started", ""}
	}
	var list []string
	for reason, n := range stuck {
		list = append(list, fmt.Sprintf("%d %s", n, reason))
	}
	slices.Sort(list)
	return Condition{Started, no, "Waiting", strings.Join(list, ", ")}
}

func (v View) rolledOut() Condition {
	of, wanted := v.Observation.Deployment, v.Observation.Replicas()
	switch {
	case v.own() == nil:
		return Condition{RolledOut, no, "NoDeployment", ""}
	case of.Spec.Paused:
		return Condition{RolledOut, no, "Paused", fmt.Sprintf("the rollout of its Deployment is paused, so changes do not reach its pods: kubectl rollout "+
			"resume deployment/%s -n %s", of.Name, of.Namespace)}
	case failed(of):
		return Condition{RolledOut, no, "ProgressDeadlineExceeded", message(of, appsv1.DeploymentProgressing)}
	case message(of, appsv1.DeploymentReplicaFailure) != "":
		return Condition{RolledOut, no, "ReplicaFailure", message(of, appsv1.DeploymentReplicaFailure)}
	case of.Status.ObservedGeneration < of.Generation || int(of.Status.UpdatedReplicas) < wanted || of.Status.Replicas > of.Status.UpdatedReplicas:
		text := fmt.Sprintf("%d of %d pods are up to date", min(int(of.Status.UpdatedReplicas), wanted), wanted)
		if older := int(of.Status.Replicas - of.Status.UpdatedReplicas); older > 0 {
			text += fmt.Sprintf(", and %d older %s left", older, wording.Plural(older, "one is", "ones are"))
		}
		return Condition{RolledOut, unknown, "Progressing", text}
	}
	return Condition{RolledOut, yes, "Complete", ""}
}

// failed reports whether a rollout exceeded the Deployment's progress deadline.
func failed(of *appsv1.Deployment) bool {
	return of != nil && slices.ContainsFunc(of.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// message returns the message of a failed condition of a Deployment; empty if it did not fail.
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
