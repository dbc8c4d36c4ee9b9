package connect

import (
	"cmp"
	"context"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// PersonFlags say what a person decides for a while, who they are, and why.
type PersonFlags struct {
	store    *StoreFlags
	length   time.Duration
	why, who string
}

// Register gives a command the flags. A command that ends something has no length.
func (o *PersonFlags) Register(cmd *cobra.Command, of *StoreFlags, length bool) {
	o.store = of
	f := cmd.Flags()
	reason := "why, for whoever looks at it later"
	if length {
		process.DurationVar(cmd, &o.length, "for", 0, "for how long, such as 90m, 4h or 2d: at least 1m, at most 30d (required)")
		reason += " (required)"
	}
	f.StringVar(&o.why, "reason", "", "`TEXT` that says "+reason)
	f.StringVar(&o.who, "by", "", "`NAME` of who decides it (what the cluster calls you where the store is in one, else the user of this machine)")
	_ = cmd.RegisterFlagCompletionFunc("reason", cobra.NoFileCompletions)
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.NoFileCompletions)
}

// Request is what is asked for. What of it is missing is wrong usage.
func (o *PersonFlags) Request(ctx context.Context, place store.Store) (exception.Request, error) {
	r := exception.Request{For: o.length, Who: o.person(ctx, place), Why: o.why}
	if _, err := r.Begin("asked", o.store.session.Now()); err != nil {
		switch {
		case o.length == 0:
			return r, process.Usagef("say for how long, by --for 4h")
		case o.why == "":
			return r, process.Usagef("say why, by --reason: status, plans and the history show it")
		}
		return r, process.WrongUsage(err)
	}
	if o.length > week {
		o.store.session.Warn("it lasts for " + duration.Words(o.length) + ": what is to stay longer than a week belongs into the declaration")
	}
	return r, nil
}

// week is the longest time for which nothing is said of the length.
const week = 7 * 24 * time.Hour

// Release is the early end that is asked for.
func (o *PersonFlags) Release(ctx context.Context, place store.Store) exception.Release {
	return exception.Release{Who: o.person(ctx, place), Why: o.why}
}

// person is who asks.
func (o *PersonFlags) person(ctx context.Context, place store.Store) string {
	if o.who != "" {
		return o.who
	}
	if place.Location().Namespace != "" {
		if client, err := o.store.cluster.client(); err == nil {
			if name, err := client.User(ctx); err == nil && name != "" {
				return name
			}
		}
	}
	if known, err := user.Current(); err == nil && known.Username != "" {
		return known.Username
	}
	return cmp.Or(o.store.session.Getenv("USER"), "someone")
}

// StoreWorld has only the command's store. Its clock is the API server's if the store is
// in a cluster.
func (o *StoreFlags) StoreWorld(place store.Store) reconcile.World {
	w := o.World(place, nil, nil)
	w.Clock, w.LockTimeout = o.clock(place), time.Minute
	return w
}

func (o *StoreFlags) clock(place store.Store) func() time.Time {
	if place.Location().Namespace == "" {
		return o.session.Now
	}
	return func() time.Time {
		if client, err := o.cluster.client(); err == nil {
			if now := client.Now(); !now.IsZero() {
				return now
			}
		}
		return o.session.Now()
	}
}
