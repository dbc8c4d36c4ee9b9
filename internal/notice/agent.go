package notice

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/node"
)

// Cluster is what the agent needs of its cluster. Errors name the verb and the object.
type Cluster interface {
	// Notice is whether a node bears a notice, or a part of one, and for when; zero where
	// that can't be read.
	Notice(ctx context.Context, name string) (at time.Time, marked bool, err error)
	// SetNotice has a node bear a notice; ClearNotice takes exactly that away again.
	SetNotice(ctx context.Context, name string, at, now time.Time) error
	ClearNotice(ctx context.Context, name string) error
}

const (
	// hurry is when what failed is tried again while a notice runs.
	hurry = time.Second
	// clusterTimeout is how long the API server is waited for.
	clusterTimeout = 10 * time.Second
)

// Agent marks its node when the cloud takes the instance back.
type Agent struct {
	Node     string // its name
	Metadata *Metadata
	Cluster  Cluster
	Interval time.Duration // from one question to the next
	Now      func() time.Time
	Log      *slog.Logger
	Warn     func(text string) // tells people

	heard    time.Time // for when notice was given; zero: none was
	bears    borne
	troubles map[string]string // that were told, by whose they are
}

// borne is what the node bears, as far as the agent knows.
type borne struct {
	known  bool // it was read, or written
	marked bool
	at     time.Time
}

// Run asks again and again, until the context ends, and returns its cause.
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

// Step asks once, does what follows, and returns when to ask again, from its beginning.
func (a *Agent) Step(ctx context.Context) (next time.Duration) {
	gone := a.ask(ctx)
	limited, cancel := context.WithTimeout(ctx, clusterTimeout)
	defer cancel()
	var err error
	switch now := a.Now(); {
	case !a.heard.IsZero():
		err = a.mark(limited, now)
	case gone:
		err = a.clear(limited, now)
	}
	if ctx.Err() != nil {
		return a.Interval
	}
	a.trouble("cluster", err, "")
	if err != nil && !a.heard.IsZero() {
		return min(hurry, a.Interval)
	}
	return a.Interval
}

// ask hears the metadata service. gone says that there is no notice, by its word.
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
		if !a.heard.IsZero() && (!a.bears.marked || over(a.heard, now)) {
			a.Log.InfoContext(ctx, "notice taken back", "node", a.Node, "taken_at", a.heard)
			a.heard = time.Time{}
		}
		return a.heard.IsZero()
	}
	at, err := node.ParseNotice(text, a.Now())
	a.trouble("notice", err, text)
	if err == nil && !at.Equal(a.heard) {
		a.heard = at
		a.Warn(fmt.Sprintf("the cloud takes the instance of the node %s back at %s", a.Node, at.Format(time.RFC3339)))
	}
	return false
}

// over reports whether a notice for a time did not come true.
func over(at, now time.Time) bool { return now.After(at.Add(node.NoticeSlack)) }

// mark has the node bear the notice that was heard. Once its time has passed, that helps
// nobody.
func (a *Agent) mark(ctx context.Context, now time.Time) error {
	if a.bears.marked && a.bears.at.Equal(a.heard) || now.After(a.heard) {
		return nil
	}
	if err := a.Cluster.SetNotice(ctx, a.Node, a.heard, now); err != nil {
		a.bears = borne{} // it may bear a part of it
		return fmt.Errorf("the node %s does not bear the notice yet: %w", a.Node, err)
	}
	a.bears = borne{known: true, marked: true, at: a.heard}
	a.Log.InfoContext(ctx, "notice marked", "node", a.Node, "taken_at", a.heard)
	return nil
}

// clear takes from the node a notice that did not come true, be it of another process.
func (a *Agent) clear(ctx context.Context, now time.Time) error {
	if !a.bears.known {
		at, marked, err := a.Cluster.Notice(ctx, a.Node)
		if err != nil {
			return err
		}
		a.bears = borne{known: true, marked: marked, at: at}
	}
	if !a.bears.marked || !over(a.bears.at, now) {
		return nil
	}
	if err := a.Cluster.ClearNotice(ctx, a.Node); err != nil {
		return fmt.Errorf("the node %s still bears a notice that did not come true: %w", a.Node, err)
	}
	a.bears = borne{known: true}
	a.Log.InfoContext(ctx, "notice cleared", "node", a.Node)
	return nil
}

// trouble tells of an error of someone once, until there is another one, by what it is
// about, or none.
func (a *Agent) trouble(whose string, err error, about string) {
	told, was := a.troubles[whose]
	if err == nil {
		if was {
			delete(a.troubles, whose)
			a.Log.Info("it is well again", "detail", whose)
		}
		return
	}
	if was && told == about {
		a.Log.Debug("asked in vain", "detail", err.Error())
		return
	}
	if a.troubles == nil {
		a.troubles = map[string]string{}
	}
	a.troubles[whose] = about
	a.Warn(err.Error())
}
