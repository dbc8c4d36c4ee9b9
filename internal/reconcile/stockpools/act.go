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

// roundsAtMost is how often a pool is looked at and acted on in one operation: creating,
// filling and guarding one takes four.
const roundsAtMost = 12

// act carries decisions out, the first of each look, until there are none. The pool's
// lock must be held. The error is what failed, or why nothing can be done.
func (f *Flow) act(ctx context.Context, c Cluster, p *pass) (results []outcome.Result, err error) {
	if !p.journal.Exists() { // its record was written, and nothing else
		if err := f.keep(ctx, p, stockpool.Journal{}.Created(p.declaration, f.clusterNow(c))); err != nil {
			return nil, err
		}
	}
	for range roundsAtMost {
		if err := ctx.Err(); err != nil {
			return results, context.Cause(ctx)
		}
		if err := f.look(ctx, c, p); err != nil {
			return results, err
		}
		if len(p.plan.Decisions) == 0 {
			return results, errors.Join(p.plan.Refused, f.keep(ctx, p, p.plan.Journal))
		}
		of := p.plan.Decisions[0]
		f.Teller.Tell(of.Object, of.Summary(), nil)
		err = f.do(ctx, c, p, of)
		switch {
		case errors.Is(err, outcome.ErrPlanned):
			for _, of := range p.plan.Decisions {
				results = append(results, outcome.Of(of, outcome.Planned, nil))
			}
			return results, nil
		case errors.Is(err, stockpool.ErrChanged): // looked at anew
		case err != nil:
			result := outcome.Of(of, outcome.Failed, err)
			f.Teller.LogDecision(ctx, result)
			return append(results, result), err
		default:
			result := outcome.Of(of, outcome.Done, nil)
			f.Teller.LogDecision(ctx, result)
			results = append(results, result)
			p.did = append(p.did, of)
		}
	}
	if err == nil {
		err = errors.New("somebody changes it again and again")
	}
	return results, fmt.Errorf("%s is not as declared after %d attempts: %w", p.declaration.Object(), roundsAtMost, err)
}

// keep writes the pool's journal.
func (f *Flow) keep(ctx context.Context, p *pass, value stockpool.Journal) (err error) {
	recording, cancel := context.WithTimeout(context.WithoutCancel(ctx), record.Grace)
	defer cancel()
	p.journal, err = f.saveJournal(recording, p.journal, value)
	return err
}

// do carries one decision out.
func (f *Flow) do(ctx context.Context, c Cluster, p *pass, of stockpool.Decision) error {
	calling, release := record.Outliving(ctx)
	defer release()
	d, seen := p.declaration, p.seen
	switch {
	case of.Kind == stockpool.KindCreate:
		return f.open(calling, c, p, of)
	case of.Kind == stockpool.KindOwn:
		live := seen.Deployment
		return f.keep(ctx, p, p.plan.Journal.Own(string(live.UID), live.Spec.Template.Spec.Containers[0].Name))
	case of.Kind == stockpool.KindSpare:
		return f.spare(calling, c, p, of)
	case of.Kind == stockpool.KindGuard:
		return c.GuardStock(calling, seen.Guard, d.Guard(seen.Deployment))
	case of.Kind == stockpool.KindUnguard:
		return c.UnguardStock(calling, seen.Guard)
	case of.Applies():
		return f.apply(calling, c, p, of)
	}
	return fmt.Errorf("nobody knows how to %s", of.Kind)
}

// open creates a Deployment, empty if there are no pods to adopt: under a token that is written down before, and by a
// uid that is written down after. A creation that was asked for before and not seen may
// still land: it has the same token, and is the pool's own.
func (f *Flow) open(ctx context.Context, c Cluster, p *pass, of stockpool.Decision) error {
	d := p.declaration
	token := cmp.Or(p.plan.Journal.Opened, record.NewID())
	opened := p.plan.Journal.Lost(d, f.clusterNow(c)).Open(token)
	if err := f.keep(ctx, p, opened); err != nil {
		return err
	}
	made, err := c.CreateStock(ctx, d.BareOf(token, of.Replicas))
	if err != nil {
		return err
	}
	return f.keep(ctx, p, p.journal.Value.Own(string(made.UID), stockpool.Container))
}

// apply applies the declaration. What it is about to do is written down before, so that a
// run that is killed in between is told of by the next.
func (f *Flow) apply(ctx context.Context, c Cluster, p *pass, of stockpool.Decision) error {
	d, live := p.declaration, p.seen.Deployment
	if err := f.keep(ctx, p, p.plan.Journal.Begin(d, of, live, f.clusterNow(c))); err != nil {
		return err
	}
	answer, err := c.ApplyStock(ctx, live, d.Desired(live, p.journal.Value.Container, of.Replicas))
	if err != nil {
		return err
	}
	return f.keep(ctx, p, p.journal.Value.Did(d, of, answer, f.clusterNow(c)))
}

// spare marks the pods in use, before a scale-down, and takes the mark off others.
func (f *Flow) spare(ctx context.Context, c Cluster, p *pass, of stockpool.Decision) error {
	for _, pod := range p.seen.Pods {
		spare := slices.Contains(of.Spared, pod.Name)
		if !spare && !slices.Contains(of.Released, pod.Name) {
			continue
		}
		if err := c.SpareStockPod(ctx, p.declaration.Namespace, pod, spare); err != nil {
			return err
		}
	}
	return nil
}
