package reconciletest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// enforcementAPI has the calls of budgets, except those for workloads.
type enforcementAPI struct{ *view }

func (c enforcementAPI) Alert(ctx context.Context, a budget.Event) error {
	return c.act(ctx, "Alert", a.Namespace, func() error { c.Alerts = append(c.Alerts, a); return nil })
}

func (c enforcementAPI) Freezes(ctx context.Context) ([]budget.FreezeRule, budget.SlotWrite, error) {
	list, err := read(ctx, c.view, "Freezes", func() ([]budget.FreezeRule, error) { return slices.Collect(maps.Values(c.Frozen)), nil })
	return list, c.FreezeSlots, err
}

func (c enforcementAPI) Unrecognized(ctx context.Context) ([]budget.Unrecognized, error) {
	return read(ctx, c.view, "Unrecognized", func() ([]budget.Unrecognized, error) { return c.Unknown, nil })
}

func (c enforcementAPI) FreezePolicy(ctx context.Context) error {
	_, err := read(ctx, c.view, "FreezePolicy", func() (struct{}, error) { return struct{}{}, nil })
	return err
}

// Freeze keeps new pods out.
func (c enforcementAPI) Freeze(ctx context.Context, f budget.FreezeRule) error {
	return c.act(ctx, "Freeze", f.Budget, func() error { c.Frozen[f.BudgetUID] = f; return nil })
}

func (c enforcementAPI) Unfreeze(ctx context.Context, uid string) error {
	return c.act(ctx, "Unfreeze", "", func() error { delete(c.Frozen, uid); return nil }, uid)
}

// Evict deletes a pod, unless something protects it.
func (c enforcementAPI) Evict(ctx context.Context, e budget.Eviction) error {
	p := e.PodRef
	return c.act(ctx, "Evict", p.Name, func() error {
		c.Graces = append(c.Graces, e.Grace)
		if s := c.Pods[p.UID]; s != nil && e.Waiting != "" && !s.Waits() {
			return &budget.EvictionBlockedError{Pod: p, Err: errors.New("it was started again")}
		}
		if c.Blocked[p.Name] {
			return &budget.EvictionBlockedError{Pod: p, Err: errors.New("a disruption budget needs it")}
		}
		if err := c.Broken[p.Name]; err != nil {
			return err
		}
		if c.evictFromMachine(e) {
			c.Evicted = append(c.Evicted, p.Name)
		}
		if pod, there := c.Pods[p.UID]; there {
			switch {
			case pod.Deletion != 0: // it is ending, and is given less time
				pod.Deletion = ledger.TimeOf(c.now.Add(time.Duration(e.Grace) * time.Second))
				c.changed(*pod, false)
			case c.Grace > 0:
				pod.Deletion = ledger.TimeOf(c.now.Add(c.Grace))
				c.changed(*pod, false)
			default:
				c.removeLocked(p.UID)
			}
			c.Evicted = append(c.Evicted, p.Name)
		}
		return nil
	}, e)
}
