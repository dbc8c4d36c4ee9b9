package notice

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Cluster is the agent's access to its cluster. Errors name the verb and the object.
type Cluster interface {
	// Notice returns the time of a node's notice and whether the node has one, or a part of one.
	// The time is zero if it cannot be read.
	Notice(ctx context.Context, name string) (at time.Time, marked bool, err error)
	// SetNotice adds a notice to a node; ClearNotice removes exactly that.
	SetNotice(ctx context.Context, name string, notice node.Notice, now time.Time) error
	ClearNotice(ctx context.Context, name string) error
	PodDeleter
}

// Source announces the interruption of the agent's instance, as [Metadata] does.
type Source interface {
	// Ask returns the announced time. given is false if the source says that there is none.
	Ask(ctx context.Context) (answer string, given bool, err error)
	// InstanceID returns the ID of the instance.
	InstanceID(ctx context.Context) (string, error)
}

const (
	// hurry is the pause before a retry while a notice is active.
	hurry = time.Second
	// clusterTimeout limits one call of the API server.
	clusterTimeout = 10 * time.Second
)

// Agent marks its node when Tencent Cloud announces the interruption of its instance.
type Agent struct {
	Node     string // its name
	Metadata Source
	Cluster  Cluster
	Interval time.Duration // from one query to the next
	Now      func() time.Time
	Log      *slog.Logger
	Warn     func(text string) // tells people

	heard    time.Time // the announced time; zero: none
	onNode   marking
	markedAt time.Time         // when this process first marked the node with the notice
	pods     map[string]bool   // pods that were on the node since the mark, by UID: whether they were deleted
	reach    node.Reach        // their count; zero before the first look
	troubles map[string]string // the reported ones, by source
}

// marked is the notice of the node, as far as the agent knows.
type marking struct {
	known  bool // it was read or written
	marked bool
	notice node.Notice
}

// Run queries the metadata service until the context ends, and returns its cause.
func (a *Agent) Run(ctx context.Context) error {
	for {
		began := time.Now()
		timer := time.NewTimer(max(0, a.Step(ctx)-time.Since(began)))
		select {
		case <-ctx.Done():
			timer.Stop()
			return context.Cause(ctx)
		case <-timer.C:
		}
	}
}

// Step queries once, acts on the response, and returns when to query next, from its start.
func (a *Agent) Step(ctx context.Context) (next time.Duration) {
	gone := a.ask(ctx)
	limited, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var err error
	deleting := false
	switch now := a.Now(); {
	case !a.heard.IsZero():
		err = a.mark(limited, now)
		if err == nil {
			deleting, err = a.endPods(limited, now)
		}
	case gone:
		err = a.clear(limited, now)
	}
	if ctx.Err() != nil {
		return a.Interval
	}
	a.trouble("cluster", err, "")
	if deleting || err != nil && !a.heard.IsZero() {
		return min(hurry, a.Interval)
	}
	return a.Interval
}

// ask queries the metadata service. gone reports that the service says that there is no notice.
func (a *Agent) ask(ctx context.Context) (gone bool) {
	text, given, err := a.Metadata.Ask(ctx)
	if ctx.Err() != nil {
		return false
	}
	a.trouble("metadata", err, "")
	switch {
	case err != nil:
		return false
	case !given:
		a.trouble("notice", nil, "")
		now := a.Now()
		if !a.heard.IsZero() && (!a.onNode.marked || over(a.heard, now)) {
			a.Log.InfoContext(ctx, "notice withdrawn", "node", a.Node, "taken_at", a.heard)
			a.heard, a.markedAt, a.pods, a.reach = time.Time{}, time.Time{}, nil, node.Reach{}
		}
		return a.heard.IsZero()
	}
	at, err := node.ParseNotice(text, a.Now())
	a.trouble("notice", err, text)
	if err == nil && !at.Equal(a.heard) {
		a.heard = at
		a.Warn(fmt.Sprintf("Tencent Cloud reclaims the instance of the node %s at %s", a.Node, at.Format(time.RFC3339)))
	}
	return false
}

// over reports whether the time of a notice passed without an interruption.
func over(at, now time.Time) bool { return now.After(at.Add(node.NoticeSlack)) }

// mark adds the announced notice to the node. Once its time has passed, it does nothing.
func (a *Agent) mark(ctx context.Context, now time.Time) error {
	notice := node.Notice{At: a.heard, Reach: a.reach}
	if a.onNode.marked && a.onNode.notice == notice || now.After(a.heard) {
		return nil
	}
	if err := a.Cluster.SetNotice(ctx, a.Node, notice, now); err != nil {
		a.onNode = marking{} // it may have a part of it
		return fmt.Errorf("cannot mark the node %s with the interruption notice: %w", a.Node, err)
	}
	if a.markedAt.IsZero() {
		a.markedAt, a.pods = now, map[string]bool{}
	}
	a.onNode = marking{known: true, marked: true, notice: notice}
	a.Log.InfoContext(ctx, "notice marked", "node", a.Node, "taken_at", a.heard)
	return nil
}

// clear removes an obsolete notice from the node, even one of another process.
func (a *Agent) clear(ctx context.Context, now time.Time) error {
	if !a.onNode.known {
		at, marked, err := a.Cluster.Notice(ctx, a.Node)
		if err != nil {
			return err
		}
		a.onNode = marking{known: true, marked: marked, notice: node.Notice{At: at}}
	}
	if !a.onNode.marked || !over(a.onNode.notice.At, now) {
		return nil
	}
	if err := a.Cluster.ClearNotice(ctx, a.Node); err != nil {
		return fmt.Errorf("cannot remove the expired interruption notice of the node %s: %w", a.Node, err)
	}
	a.onNode = marking{known: true}
	a.Log.InfoContext(ctx, "notice cleared", "node", a.Node)
	return nil
}

// trouble reports an error of a source once, until there is another one for another reason, or
// none.
func (a *Agent) trouble(whose string, err error, about string) {
	told, was := a.troubles[whose]
	if err == nil {
		if was {
			delete(a.troubles, whose)
			a.Log.Info("recovered", "detail", whose)
		}
		return
	}
	if was && told == about {
		a.Log.Debug("query failed", "detail", err.Error())
		return
	}
	if a.troubles == nil {
		a.troubles = map[string]string{}
	}
	a.troubles[whose] = about
	a.Warn(err.Error())
}
