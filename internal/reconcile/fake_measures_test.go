package reconcile_test

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
)

// act notes something that was done.
func (c *fakeCluster) act(method, what string, do func() error) error {
	if err := c.call(method); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := do(); err != nil {
		return err
	}
	c.acts = append(c.acts, method+" "+what)
	return nil
}

func (c *fakeCluster) Alert(_ context.Context, a budget.Event) error {
	return c.act("Alert", a.Namespace, func() error { c.alerts = append(c.alerts, a); return nil })
}

func (c *fakeCluster) Freezes(context.Context) ([]budget.FreezeRule, error) {
	err := c.call("Freezes")
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.frozen)), err
}

func (c *fakeCluster) Freeze(_ context.Context, f budget.FreezeRule) error {
	return c.act("Freeze", f.Budget, func() error { c.frozen[f.BudgetUID] = f; return nil })
}

func (c *fakeCluster) Unfreeze(_ context.Context, uid string) error {
	return c.act("Unfreeze", "", func() error { delete(c.frozen, uid); return nil })
}

func (c *fakeCluster) Evict(_ context.Context, e budget.Eviction) error {
	p := e.PodRef
	return c.act("Evict", p.Name, func() error {
		c.graces = append(c.graces, e.Grace)
		if s := c.pods[p.UID]; s != nil && e.Waiting != "" && s.Node.Name != "" {
			return &budget.EvictionBlockedError{Pod: p, Err: errors.New("it was bound meanwhile")}
		}
		if c.blocked[p.Name] {
			return &budget.EvictionBlockedError{Pod: p, Err: errors.New("a disruption budget needs it")}
		}
		if err := c.broken[p.Name]; err != nil {
			return err
		}
		if pod, there := c.pods[p.UID]; there {
			switch {
			case !pod.Live.Deletion.IsZero(): // it is ending, and is given less time
				pod.Live.Deletion = c.now.Add(time.Duration(e.Grace) * time.Second)
				c.changed(*pod, false)
			case c.grace > 0:
				pod.Live.Deletion = c.now.Add(c.grace)
				c.changed(*pod, false)
			default:
				c.removeLocked(p.UID)
			}
			c.evicted = append(c.evicted, p.Name)
		}
		return nil
	})
}
