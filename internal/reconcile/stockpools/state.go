package stockpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

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
	// Replacement describes how a change replaces the pods; empty if the cluster was not
	// observed.
	Replacement string
	Warnings    []string
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
		s.Warnings = append(s.Warnings, record.DeclaredTogether)
	}
	if waited && !s.Status.Settled() {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d pods are ready (%s)%s. Follow it with gpupool status",
			s.Status.Available+s.Status.Allocated, s.Status.Desired, s.Status.Phase, notReadyReason(s.Status)))
	}
	return s
}

// held returns the budgets and the maximum that block growth.
func held(s decide.Status) (texts []string) {
	for _, kind := range []string{decide.WithinBudget, decide.Stocked} {
		of := s.Of(kind)
		if of.Status == "" || of.Status == "True" || kind == decide.Stocked && of.Reason != decide.AtMaximum {
			continue
		}
		texts = append(texts, fmt.Sprintf("it cannot grow: %s", of.Message))
	}
	return texts
}

// notReadyReason returns why pods are not ready.
func notReadyReason(s decide.Status) string {
	var texts []string
	for _, kind := range []string{decide.Scheduled, decide.Started, decide.RolledOut} {
		if c := s.Of(kind); c.Status == "False" {
			texts = append(texts, cmp.Or(c.Message, c.Reason))
		}
	}
	if len(texts) == 0 {
		return ""
	}
	return ": " + strings.Join(texts, "; ")
}
