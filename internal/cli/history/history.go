// Package history is the command gpupool history.
package history

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const historyHelp = `Show the events of pools, stock pools and budgets: what runs, applies and people did,
observed or failed to do. The newest event is the last.

Repeated failures are one line, with their number and the time of the first. Times
are local, and each day has its time zone. JSON and CSV list every event, with times
in UTC. Damaged or deleted days are reported, and do not hide other events.

NAME is the name of a pool, a stock pool or a budget. It can include the region, the
namespace or the kind: ap-singapore/train, ml/g1, budget/team-a. A pattern such as
'team-*' selects several.`

const historyExamples = `  # Last night
  gpupool history --since 21:00 --until 07:00

  # Reclaims and evictions of a week, of some pools and budgets
  gpupool history 'team-*' --since 7d --kind reclaim,evict

  # With reasons, IDs, errors and remedies
  gpupool history train -o wide

  # For a spreadsheet
  gpupool history --since 35d -o csv > history.csv`

type options struct {
	session      *process.Session
	store        connect.StoreFlags
	since, until string
	kinds        []string
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:               "history [NAME...]",
		Short:             "Show events and their reasons",
		Long:              historyHelp,
		Example:           historyExamples,
		RunE:              s.Command(o.run),
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "24h",
		"First `TIME`: a duration before now (6h, 7d), local time (14:00, \"2026-11-21 14:00\"), or RFC 3339 (2026-11-21T06:00:00Z).")
	f.StringVar(&o.until, "until", "", "Last `TIME`, in the same form. If omitted, the newest event.")
	f.StringSliceVar(&o.kinds, "kind", nil, "Only events of these `KINDS`, such as launch,reclaim,evict.")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	s.LogFlags(cmd)
	s.OutputFlag(cmd, process.Wide, process.CSV)
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range history.Kinds() {
		names = append(names, string(k))
	}
	return names
}

func (o *options) run(ctx context.Context, args []string) error {
	names := declaration.Names(args)
	if err := names.Validate(); err != nil {
		return process.WrongUsage(err)
	}
	query, err := o.query(names)
	if err != nil {
		return process.WrongUsage(err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	kept := &eventlog.Log{Store: place, Now: o.session.Now}
	walk := func(tell func(*history.Event) error) (eventlog.Answer, error) { return kept.Walk(ctx, query, tell) }
	programs := o.session.JSON() || o.session.Output(process.CSV)
	page := newPage(o.session)
	if !programs || len(names) > 0 {
		answer, err := walk(page.see)
		if err == nil {
			err = known(ctx, place, names, query, answer.Objects, o.session.Clock().WithZone())
		}
		if err != nil {
			return err
		}
	}
	var answer eventlog.Answer
	switch {
	case o.session.JSON():
		return page.json(eventlog.Report{SchemaVersion: 1, Store: place.String(), Since: query.Since.UTC(), Until: o.shownUntil(query).UTC()}, walk)
	case o.session.Output(process.CSV):
		answer, err = page.csv(walk)
	default:
		answer, err = page.table(query, o.shownUntil(query), o.session.Output(process.Wide), walk)
	}
	if err != nil {
		return err
	}
	o.session.Warn(answer.Lost.Texts()...)
	if answer.KeptSince.After(query.Since) {
		o.session.Warn(fmt.Sprintf("events before %s are no longer kept", answer.KeptSince.UTC().Format(time.RFC3339)))
	}
	return nil
}

// shownUntil is the requested end, or now.
func (o *options) shownUntil(q history.Query) time.Time {
	if o.until == "" {
		return o.session.Now()
	}
	return q.Until
}

// query returns the requested events.
func (o *options) query(names declaration.Names) (history.Query, error) {
	now, zone := o.session.Now(), cmp.Or(o.session.Zone, time.UTC)
	q := history.Query{Of: names.Fits} // up to the newest event, as other clocks may be ahead of this one
	var err error
	if q.Since, err = moment("since", o.since, now, zone); err != nil {
		return q, err
	}
	if o.until != "" {
		if q.Until, err = moment("until", o.until, now, zone); err != nil {
			return q, err
		}
	}
	for _, kind := range o.kinds {
		q.Kinds = append(q.Kinds, history.Kind(strings.TrimSpace(kind)))
	}
	return q, q.Validate()
}

// known returns an error if a name is neither declared nor in the history.
func known(ctx context.Context, place store.Store, names declaration.Names, q history.Query, told []string, clock terminal.Clock) error {
	if names.Among("", told) == nil {
		return nil
	}
	declared, err := connect.Declared(ctx, place)
	if err != nil {
		return err
	}
	objects := slices.Concat(told, declared)
	slices.Sort(objects)
	if err := names.Among(place.String(), slices.Compact(objects)); err != nil {
		return fmt.Errorf("no events since %s, and %w", clock.At(q.Since), err)
	}
	return nil
}
