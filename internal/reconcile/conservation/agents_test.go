package conservation_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
	"github.com/gpupool/terraform-provider-gpupool/internal/notice"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
)

// agent is the notice agent on a machine whose instance is reclaimed. Its clock is behind: it acts as the
// world catches up.
type agent struct {
	*notice.Agent
	c       *cluster
	machine *machine
	at      time.Time // the announced time
	now     time.Time
}

// announce starts the agent of a machine, which hears of a reclaim at this time.
func (c *cluster) announce(m *machine, at time.Time) {
	a := &agent{c: c, machine: m, at: at, now: time.Now()}
	a.Agent = &notice.Agent{
		Node: hostName(m), Metadata: a, Cluster: a, Interval: 5 * time.Second, Now: func() time.Time { return a.now }, Log: slog.New(slog.DiscardHandler),
		Warn: func(text string) { c.w.logf("the agent of %s: %s", m.ID, text) },
	}
	c.agents[m.ID] = a
}

// until has the agent act up to a time.
func (a *agent) until(now time.Time) {
	for a.now.Before(now) && a.now.Before(a.at) {
		a.now = a.now.Add(a.Step(context.Background()))
	}
}

// undeleted are the pods that die with the instance without a deletion in time. An agent that is not sure of its node
// deletes none.
func (a *agent) undeleted() (names []string) {
	n := a.c.behind(a.machine)
	if n == nil || a.c.away || node.ParseProviderID(n.ProviderID).InstanceID != a.machine.ID {
		return nil
	}
	for _, p := range n.Pods {
		if !p.Ended && (!p.Ending || p.EndsAt.After(a.at)) {
			names = append(names, p.Name)
		}
	}
	return names
}

func (a *agent) Ask(context.Context) (string, bool, error) {
	return a.at.In(time.FixedZone("UTC+8", 8*60*60)).Format(time.DateTime), true, nil
}

func (a *agent) InstanceID(context.Context) (string, error) { return a.machine.ID, nil }

// of is the agent's node, if the API server answers.
func (a *agent) of(name string) (*reconciletest.Machine, error) {
	switch n := a.c.behind(a.machine); {
	case a.c.away:
		return nil, errAway
	case n == nil || n.Name != name:
		return nil, errors.New("the node is gone")
	default:
		return n, nil
	}
}

func (a *agent) Notice(_ context.Context, name string) (time.Time, bool, error) {
	n, err := a.of(name)
	if err != nil {
		return time.Time{}, false, err
	}
	return n.TakenAt, !n.TakenAt.IsZero(), nil
}

func (a *agent) SetNotice(_ context.Context, name string, of node.Notice, _ time.Time) error {
	_, err := a.of(name)
	if err == nil {
		a.c.Change(name, func(n *reconciletest.Machine) { n.TakenAt, n.Reach = of.At, of.Reach })
	}
	return err
}

func (a *agent) ClearNotice(context.Context, string) error { return nil }

func (a *agent) ProviderID(_ context.Context, name string) (node.ProviderID, error) {
	n, err := a.of(name)
	if err != nil {
		return node.ProviderID{}, err
	}
	return node.ParseProviderID(n.ProviderID), nil
}

func (a *agent) PodsOn(_ context.Context, name string) ([]node.Pod, error) {
	n, err := a.of(name)
	if err != nil {
		return nil, err
	}
	return n.Pods, nil
}

func (a *agent) DeletePod(_ context.Context, d node.Deletion) error {
	a.c.Change(a.Node, func(n *reconciletest.Machine) {
		if at := slices.IndexFunc(n.Pods, func(p node.Pod) bool { return p.UID == d.Pod.UID }); at >= 0 {
			n.Pods[at].Ending, n.Pods[at].EndsAt = true, a.now.Add(time.Duration(d.Grace)*time.Second)
		}
	})
	a.c.w.logf("the agent of %s deletes %s", a.machine.ID, d.Pod.Name)
	return nil
}
