package decide

import (
	"cmp"
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
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

// condition returns a condition without a message, and because adds one.
func condition(kind, status, word string) Condition {
	return Condition{Type: kind, Status: status, Reason: word}
}

func (c Condition) because(why reason.Reason) Condition {
	c.Message = why
	return c
}

func (v View) synced(t Tally, r Result) Condition {
	if err := r.Refused; err != nil {
		return condition(Synced, no, "Refused").because(err.Because())
	}
	for _, of := range r.Decisions {
		return condition(Synced, no, "Changes").because(reason.NextChange(reason.Text(of.Summary()), of.Reasons))
	}
	switch {
	case r.Ask:
		return condition(Synced, unknown, "Changed").because(reason.DriftUnchecked())
	case v.Observation.Deployment.DeletionTimestamp != nil:
		return condition(Synced, no, "Deleting").because(reason.DeploymentEnding())
	case !t.kept.IsZero():
		return condition(Synced, no, "PodsInUse").because(t.kept)
	case len(t.undeclared) > 0:
		return condition(Synced, no, "Drifted").because(reason.UndeclaredFields(undeclaredFields(t.undeclared)))
	}
	return condition(Synced, yes, "Applied")
}

// withinBudget names all budgets that limit the pool. An exhausted budget counts even if
// another one's usage is unknown.
func (v View) withinBudget() Condition {
	reasons := v.growthBlockers()
	switch {
	case slices.ContainsFunc(v.Covers, func(c Cover) bool { return c.Exceeded && !c.Unknown }):
		return condition(WithinBudget, no, "Exceeded").because(reason.GrowthBlocked(reasons))
	case reasons != nil:
		return condition(WithinBudget, unknown, "UnknownUse").because(reason.GrowthBlocked(reasons))
	}
	return condition(WithinBudget, yes, cmp.Or(map[bool]string{true: "NoBudget"}[len(v.Covers) == 0], "BelowLimit"))
}

func stocked(d stockpool.Declaration, s Status) Condition {
	wanted := d.Replicas
	short := reason.ShortOfPods(reason.Count(s.Available), reason.Count(wanted), reason.Count(s.Allocated))
	switch {
	case s.Available >= wanted:
		return condition(Stocked, yes, "Available")
	case s.Allocated+wanted > d.Maximum:
		return condition(Stocked, no, AtMaximum).because(reason.StockAtMaximum(short, reason.Count(d.Maximum)))
	}
	return condition(Stocked, no, "Short").because(short)
}

// scheduled reports the scheduler's reason why pods are pending.
func (v View) scheduled(waiting int) Condition {
	if waiting == 0 {
		return condition(Scheduled, yes, "Scheduled")
	}
	n := slices.IndexFunc(v.Observation.Pods, func(p stockpool.Pod) bool { return !p.Ended() && p.Unschedulable != "" })
	why := preemption.ReplaceAllString(v.Observation.Pods[n].Unschedulable, "")
	return condition(Scheduled, no, "NoRoom").because(reason.PodsUnscheduled(reason.Count(waiting), reason.NewValue(why)))
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
		return condition(Started, yes, "Started")
	}
	var list reason.Facts
	for cause, n := range stuck {
		list = append(list, reason.PodsStuck(reason.Count(n), reason.NewValue(cause)))
	}
	slices.SortFunc(list, func(a, b reason.Reason) int { return strings.Compare(a.String(), b.String()) })
	return condition(Started, no, "Waiting").because(reason.PodsNotStarted(list))
}

func (v View) rolledOut() Condition {
	of, wanted := v.Observation.Deployment, v.Observation.Replicas()
	switch {
	case v.own() == nil:
		return condition(RolledOut, no, "NoDeployment")
	case of.Spec.Paused:
		return condition(RolledOut, no, "Paused").because(reason.RolloutPaused(reason.Word(of.Name), reason.Word(of.Namespace)))
	case failed(of):
		return condition(RolledOut, no, "ProgressDeadlineExceeded").because(message(of, appsv1.DeploymentProgressing))
	case !message(of, appsv1.DeploymentReplicaFailure).IsZero():
		return condition(RolledOut, no, "ReplicaFailure").because(message(of, appsv1.DeploymentReplicaFailure))
	case of.Status.ObservedGeneration < of.Generation || int(of.Status.UpdatedReplicas) < wanted || of.Status.Replicas > of.Status.UpdatedReplicas:
		progress := reason.RollingOut(reason.Count(min(int(of.Status.UpdatedReplicas), wanted)), reason.Count(wanted))
		if older := int(of.Status.Replicas - of.Status.UpdatedReplicas); older > 0 {
			progress = reason.RollingOutLeft(progress, reason.Count(older))
		}
		return condition(RolledOut, unknown, "Progressing").because(progress)
	}
	return condition(RolledOut, yes, "Complete")
}

// failed reports whether a rollout exceeded the Deployment's progress deadline.
func failed(of *appsv1.Deployment) bool {
	return of != nil && slices.ContainsFunc(of.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
		return c.Type == appsv1.DeploymentProgressing && c.Status == corev1.ConditionFalse
	})
}

// message returns the message of a failed condition of a Deployment; none if it did not fail.
func message(of *appsv1.Deployment, kind appsv1.DeploymentConditionType) reason.Reason {
	trouble := corev1.ConditionTrue
	if kind == appsv1.DeploymentProgressing {
		trouble = corev1.ConditionFalse
	}
	for _, c := range of.Status.Conditions {
		if c.Type == kind && c.Status == trouble && c.Message != "" {
			return reason.RolloutFailed(reason.NewValue(c.Message))
		}
	}
	return reason.Reason{}
}
