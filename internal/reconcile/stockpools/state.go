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

// State is a stock pool as Terraform has it: what is declared, and how it is.
type State struct {
	Declaration stockpool.Declaration
	// Recorded says that the store holds a record of the pool, by which runs keep it as
	// declared.
	Recorded bool
	// Unfinished says that the store's record is of a creation that was cut short: the
	// next apply goes on with it.
	Unfinished bool
	// Destroyed says that the pool is gone for good.
	Destroyed bool
	// Deleting says that the record is of a deletion that was begun.
	Deleting bool
	Status   decide.Status
	// Pods are its pods, as far as they were observed.
	Pods []decide.Standing
	// Decisions are what a run would do now.
	Decisions []stockpool.Decision
	// Replacement says how a change replaces the pods; empty if the cluster was not observed.
	Replacement string
	Warnings    []string
}

// state is the state after an operation; waited says that it waited for the pods.
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
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d pods are ready (%s)%s. gpupool status shows how it goes on",
			s.Status.Available+s.Status.Allocated, s.Status.Desired, s.Status.Phase, whyNot(s.Status)))
	}
	return s
}

// held is what a status says of budgets and of a maximum that keep the pool from growing.
func held(s decide.Status) (texts []string) {
	for _, kind := range []string{decide.WithinBudget, decide.Stocked} {
		of := s.Of(kind)
		if of.Status == "" || of.Status == "True" || kind == decide.Stocked && of.Reason != decide.AtMaximum {
			continue
		}
		texts = append(texts, fmt.Sprintf("it is kept from growing: %s", of.Message))
	}
	return texts
}

// whyNot is what a status says of why pods are not ready.
func whyNot(s decide.Status) string {
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
