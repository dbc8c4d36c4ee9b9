package connect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os/user"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/request"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// PersonFlags describe a temporary decision: how long it lasts, its author and its reason.
type PersonFlags struct {
	store    *StoreFlags
	length   time.Duration
	until    string
	why, who string
	zone     *time.Location // of times without one; nil for the session's
}

// In reads times without a zone in one by IANA name. If it is empty or unknown, nothing changes.
func (o *PersonFlags) In(zone string) {
	if place, err := time.LoadLocation(zone); err == nil && zone != "" {
		o.zone = place
	}
}

// Register gives a command the flags. A command that ends a decision has no duration.
func (o *PersonFlags) Register(cmd *cobra.Command, of *StoreFlags, lasts bool) {
	o.store = of
	f := cmd.Flags()
	reason := "`TEXT` of the reason, for status, plans and the history."
	if lasts {
		o.RegisterSpan(cmd, of)
		reason += " Required."
	}
	f.StringVar(&o.why, "reason", "", reason)
	_ = cmd.RegisterFlagCompletionFunc("reason", cobra.NoFileCompletions)
	o.RegisterAuthor(cmd, of)
}

// RegisterSpan gives a command only the flags of the duration.
func (o *PersonFlags) RegisterSpan(cmd *cobra.Command, of *StoreFlags) {
	o.store = of
	f := cmd.Flags()
	process.DurationVar(cmd, &o.length, "duration", 0, "How long it lasts, such as 90m, 4h or 2d: from 1m to 30d.")
	f.StringVar(&o.until, "until", "", "End `TIME` instead of a duration: 06:00, \"2026-11-21 14:00\" or RFC 3339.")
	process.Exclusive(cmd, "duration", "until", "one is a duration, the other its end")
	_ = cmd.RegisterFlagCompletionFunc("until", cobra.NoFileCompletions)
}

// Lasts reports whether a duration was given.
func (o *PersonFlags) Lasts() bool { return o.length > 0 || o.until != "" }

// RegisterAuthor gives a command only the flag of the author.
func (o *PersonFlags) RegisterAuthor(cmd *cobra.Command, of *StoreFlags) {
	o.store = of
	cmd.Flags().StringVar(&o.who, "author", "", "`NAME` of the author. If omitted, your Kubernetes user if the store is in a cluster, or your local user.")
	_ = cmd.RegisterFlagCompletionFunc("author", cobra.NoFileCompletions)
}

// Request returns the requested decision. Missing flags are wrong usage.
func (o *PersonFlags) Request(ctx context.Context, place store.Store) (exception.Request, error) {
	length, err := o.duration(o.store.clock(place)())
	if err != nil {
		return exception.Request{}, process.WrongUsage(err)
	}
	r := exception.Request{For: length, Who: o.Author(ctx, place), Why: o.why}
	if _, err := r.Begin("asked", o.store.session.Now()); err != nil {
		if o.why == "" {
			return r, process.Usagef("--reason is missing: status, plans and the history show it")
		}
		return r, process.WrongUsage(err)
	}
	if length > week {
		o.store.session.Warn("it lasts for " + duration.Words(length) + ": declare a change that lasts longer than a week")
	}
	return r, nil
}

// Span returns the duration of a request for the next run, as it was given.
func (o *PersonFlags) Span(place store.Store) (request.Span, error) {
	if o.until == "" && o.length > 0 {
		return request.Span{Duration: duration.String(o.length)}, nil
	}
	now := o.store.clock(place)()
	length, err := o.duration(now)
	if err != nil {
		return request.Span{}, process.WrongUsage(err)
	}
	return request.Span{Until: now.Truncate(time.Second).Add(length).UTC()}, nil
}

// Reason is the reason.
func (o *PersonFlags) Reason() string { return o.why }

// duration is the duration by --duration or --until.
func (o *PersonFlags) duration(now time.Time) (time.Duration, error) {
	switch {
	case o.until == "" && o.length == 0:
		return 0, errors.New("the duration is missing: set --duration 4h or --until 06:00")
	case o.until == "":
		return o.length, nil
	}
	now = now.Truncate(time.Second)
	until, ok := terminal.ParseMoment(o.until, now, cmp.Or(o.zone, o.store.session.Zone, time.UTC), true)
	switch {
	case !ok:
		return 0, fmt.Errorf("--until: invalid time %q: use a time such as 06:00 or \"2026-11-21 14:00\" (local time), or 2026-11-21T06:00:00Z", o.until)
	case !until.After(now):
		return 0, fmt.Errorf("--until %s is in the past", o.until)
	}
	return until.Sub(now), nil
}

// week is the longest duration without a warning.
const week = 7 * 24 * time.Hour

// Release returns the requested early end.
func (o *PersonFlags) Release(ctx context.Context, place store.Store) exception.Release {
	return exception.Release{Who: o.Author(ctx, place), Why: o.why}
}

// Author returns the author: the flag, the Kubernetes user or the local user.
func (o *PersonFlags) Author(ctx context.Context, place store.Store) string {
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
	return cmp.Or(o.store.session.Getenv("USER"), "unknown")
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
