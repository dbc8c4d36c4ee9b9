package stockpools

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// roundsAtMost limits the observations of one operation: to create, fill and guard a pool takes
// four.
const roundsAtMost = 12

// act carries out the first decision after each observation, until there are none. The pool's
// lock must be held. The error is what failed, or why nothing can be done.
func (p *pass) act(ctx context.Context) (results []outcome.Result, err error) {
	if !p.journal.Exists() { // only its record was written
		if err := p.keep(ctx, stockpool.Journal{}.RecordCreate(p.declaration, p.now())); err != nil {
			return nil, err
		}
	}
	for range roundsAtMost {
		if err := ctx.Err(); err != nil {
			return results, context.Cause(ctx)
		}
		if err := p.observe(ctx); err != nil {
			return results, err
		}
		if len(p.plan.Decisions) == 0 {
			return results, errors.Join(p.plan.Refused, p.keep(ctx, p.plan.Journal))
		}
		of := p.plan.Decisions[0]
		p.Reporter.Report(of.Object, of.Summary(), nil)
		err = p.do(ctx, of)
		switch {
		case errors.Is(err, outcome.ErrPlanned):
			for _, of := range p.plan.Decisions {
				results = append(results, outcome.Of(of, outcome.Planned, nil))
			}
			return results, nil
		case errors.Is(err, stockpool.ErrChanged): // observe again
			continue
		}
		result := outcome.Of(of, outcome.Done, nil)
		if err != nil {
			result = outcome.Of(of, outcome.Failed, err)
		}
		p.Reporter.LogDecision(ctx, result)
		if results = append(results, result); err != nil {
			return results, err
		}
		p.did = append(p.did, of)
	}
	if err == nil {
		err = errors.New("another process keeps changing it")
	}
	return results, fmt.Errorf("%s is not in sync after %d attempts: %w", p.declaration.Object(), roundsAtMost, err)
}

func (p *pass) keep(ctx context.Context, value stockpool.Journal) (err error) {
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	p.journal, err = p.saveJournal(recording, p.journal, value)
	return err
}

func (p *pass) do(ctx context.Context, of stockpool.Decision) error {
	calling, release := record.WithGrace(ctx)
	defer release()
	live := p.observation.Deployment
	switch {
	case of.Kind == stockpool.KindCreate:
		return p.open(calling, of)
	case of.Kind == stockpool.KindOwn:
		return p.keep(ctx, p.plan.Journal.RecordOwner(string(live.UID), live.Spec.Template.Spec.Containers[0].Name))
	case of.Kind == stockpool.KindSpare:
		return p.spare(calling, of)
	case of.Kind == stockpool.KindGuard:
		return p.cluster.GuardStock(calling, p.observation.Guard, p.declaration.Guard(live))
	case of.Kind == stockpool.KindUnguard:
		return p.cluster.UnguardStock(calling, p.observation.Guard)
	case of.Kind == stockpool.KindPause:
		return p.pause(calling, of)
	case of.Applies():
		return p.apply(calling, of)
	}
	return fmt.Errorf("unknown decision %q", of.Kind)
}

// open creates a Deployment, with replicas only if there are pods to adopt. The journal records
// the token before, and the UID after. An earlier creation that was not observed may still
// land: it has the same token, and is the pool's own.
func (p *pass) open(ctx context.Context, of stockpool.Decision) error {
	d := p.declaration
	token := cmp.Or(p.plan.Journal.Opened, record.NewID())
	opened := p.plan.Journal.RecordLoss(d, p.now()).BeginCreate(token)
	if err := p.keep(ctx, opened); err != nil {
		return err
	}
	made, err := p.cluster.CreateStock(ctx, d.InitialDeployment(token, of.Replicas))
	if err != nil {
		return err
	}
	return p.keep(ctx, p.journal.Value.RecordOwner(string(made.UID), stockpool.Container))
}

// apply applies the declaration. The journal records the decision before, so that the next run
// reports it after a kill.
func (p *pass) apply(ctx context.Context, of stockpool.Decision) error {
	d, live := p.declaration, p.observation.Deployment
	if err := p.keep(ctx, p.plan.Journal.Begin(d, of, live, p.now())); err != nil {
		return err
	}
	answer, err := p.cluster.ApplyStock(ctx, live, d.Desired(live, p.journal.Value.Container, of.Replicas))
	if err != nil {
		return err
	}
	return p.keep(ctx, p.journal.Value.RecordApply(d, of, answer, p.now()))
}

// pause only scales the Deployment to zero. A declaration that the API server refuses does not
// exempt a pool from its budgets.
func (p *pass) pause(ctx context.Context, of stockpool.Decision) error {
	live := p.observation.Deployment
	if err := p.keep(ctx, p.plan.Journal.Begin(p.declaration, of, live, p.now())); err != nil {
		return err
	}
	if err := p.cluster.ScaleStock(ctx, live, of.Replicas); err != nil {
		return err
	}
	return p.keep(ctx, p.journal.Value.RecordScale(of, live))
}

// spare marks the pods in use before a scale-down, and unmarks others.
func (p *pass) spare(ctx context.Context, of stockpool.Decision) error {
	for _, pod := range p.observation.Pods {
		spare := slices.Contains(of.Spared, pod.Name)
		if !spare && !slices.Contains(of.Released, pod.Name) {
			continue
		}
		if err := p.cluster.SpareStockPod(ctx, p.declaration.Namespace, pod, spare); err != nil {
			return err
		}
	}
	return nil
}
