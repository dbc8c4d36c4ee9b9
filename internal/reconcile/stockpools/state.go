package stockpools

import (
	"context"
	"errors"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool/decide"
)

// State is a stock pool as Terraform has it.
type State struct {
	Declaration stockpool.Declaration
	// Recorded reports that the store has a record of the pool, so that runs keep it in sync.
	Recorded bool
	// Unfinished reports an interrupted creation, which the next apply resumes.
	Unfinished bool
	Destroyed  bool
	Deleting   bool
	Status     decide.Status
	// Pods are its observed pods.
	Pods []decide.Standing
	// Decisions are what a run would do now.
	Decisions []stockpool.Decision
	// Replacement describes how a change replaces the pods; zero if the cluster was not
	// observed.
	Replacement reason.Reason
	Warnings    reason.Reasons
}

// state returns the state after an operation; waited reports that it waited for the pods.
func (p *pass) state(ctx context.Context, waited bool) State {
	if waited {
		p.findRooms(ctx)
	}
	s := State{Declaration: p.declaration, Recorded: true, Status: p.plan.Status, Warnings: p.warned().Warnings}
	s.Declaration.DeploymentUID = p.plan.Status.DeploymentUID
	s.Warnings = append(s.Warnings, held(s.Status)...)
	var undeclared *record.UndeclaredError
	if errors.As(p.undeclared(ctx), &undeclared) {
		s.Warnings = append(s.Warnings, reason.DeclaredTogether())
	}
	if waited && !s.Status.Settled() {
		s.Warnings = append(s.Warnings, notReady(s.Status))
	}
	return s
}

// held returns the budgets and the maximum that block growth.
func held(s decide.Status) (list reason.Reasons) {
	if of := s.Of(decide.WithinBudget); of.Status != "" && of.Status != "True" {
		list = append(list, reason.CannotGrow(of.Message))
	}
	if of := s.Of(decide.Stocked); of.Reason == decide.AtMaximum {
		list = append(list, reason.CannotGrowAtMaximum(of.Message))
	}
	return list
}

// notReady says how many pods are ready, and why others are not.
func notReady(s decide.Status) reason.Reason {
	ready, desired, phase := reason.Count(s.Available+s.Allocated), reason.Count(s.Desired), reason.Word(s.Phase)
	var why reason.Reasons
	for _, kind := range []string{decide.Scheduled, decide.Started, decide.RolledOut} {
		switch c := s.Of(kind); {
		case c.Status != "False" && (kind != decide.RolledOut || c.Status != "Unknown"):
		case c.Message.IsZero():
			why = append(why, reason.ConditionUnmet(reason.Word(c.Reason)))
		default:
			why = append(append(why, c.Message), c.Rooms...)
		}
	}
	if ready >= desired {
		if len(why) == 0 {
			why = reason.Reasons{reason.ConditionUnmet(phase)}
		}
		return reason.PodsUnsettled(desired, why)
	}
	if len(why) == 0 {
		return reason.PodsNotReady(ready, desired, phase)
	}
	return reason.PodsNotReadyFor(ready, desired, phase, why)
}
