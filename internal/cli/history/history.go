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

const historyHelp = `Print what happened to pools, stock pools and budgets, and why: one line for each event,
the newest last. Events are what runs, applies and people did, saw and failed at. NAME
is that of a pool (REGION/NAME as well), a stock pool (NAMESPACE/NAME) or a budget, also
with its kind before it (stock_pool/ml/g1), or a glob of these ('team-*').

The same refusal or failure again and again is one line, at the time of the last, with
how often it was and since when. Times are local; in JSON and CSV, in which nothing is
drawn together, they are in UTC. What is gone or damaged is said, and keeps nothing
else from being told.`

const historyExamples = `  # What happened last night
  gpupool history --since 21:00 --until 07:00

  # The reclaims and evictions of a week, of some pools and budgets
  gpupool history 'team-*' --since 7d --kind reclaim,evict

  # With reasons, ids and remedies
  gpupool history train -v

  gpupool history --since 35d -o csv > history.csv`

type options struct {
	session      *process.Session
	store        connect.StoreFlags
	since, until string
	kinds        []string
	verbose      bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:               "history [NAME...]",
		Short:             "What happened, and why",
		Long:              historyHelp,
		Example:           historyExamples,
		RunE:              s.Command(o.run),
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.StockPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "24h", "from when on: a `duration` before now (6h, 7d), or a moment (2026-11-21T06:00:00Z; 2026-11-21 14:00 or 14:00, "+
		"in local time)")
	f.StringVar(&o.until, "until", "", "up to when, as --since says it (default: the newest event)")
	f.StringSliceVar(&o.kinds, "kind", nil, "`kinds` of events alone: launch,reclaim,evict")
	f.BoolVarP(&o.verbose, "verbose", "v", false, "reasons, ids, errors and remedies, too")
	_ = cmd.RegisterFlagCompletionFunc("kind", cobra.FixedCompletions(kindNames(), cobra.ShellCompDirectiveNoFileComp))
	s.OutputFlagCSV(cmd)
	return cmd
}

func kindNames() []string {
	var names []string
	for _, k := range history.Kinds() {
		names = append(names, string(k))
	}
	return names
}

// Report is the history of the store, or of the named objects.
type Report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The location of the store.
	Store string `json:"store"`
	// The start of the requested time.
	Since time.Time `json:"since"`
	// The end of the requested time.
	Until time.Time `json:"until"`
	// The events, by time.
	Events []history.Event `json:"events"`
	// Parts of the history that cannot be read.
	Lost []string `json:"lost"`
	// Earlier events are no longer kept. Absent if all are.
	KeptSince time.Time `json:"kept_since,omitzero"`
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
	programs := o.session.JSON() || o.session.CSV()
	page := newPage(o.session)
	if !programs || len(names) > 0 {
		answer, err := walk(page.see)
		if err == nil {
			err = known(ctx, place, names, query, answer.Objects, o.session.Clock())
		}
		if err != nil {
			return err
		}
	}
	var answer eventlog.Answer
	switch {
	case o.session.JSON():
		return page.json(Report{SchemaVersion: 1, Store: place.String(), Since: query.Since.UTC(), Until: o.shownUntil(query).UTC()}, walk)
	case o.session.CSV():
		answer, err = page.csv(walk)
	default:
		answer, err = page.table(query, o.shownUntil(query), o.verbose, walk)
	}
	if err != nil {
		return err
	}
	o.session.Warn(answer.Lost...)
	if answer.KeptSince.After(query.Since) {
		o.session.Warn(fmt.Sprintf("what was before %s is no longer kept", answer.KeptSince.UTC().Format(time.RFC3339)))
	}
	return nil
}

// shownUntil is the end of the time that was asked for: now, if none was.
func (o *options) shownUntil(q history.Query) time.Time {
	if o.until == "" {
		return o.session.Now()
	}
	return q.Until
}

// query is what the arguments ask for.
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

// known fails where a name is of nothing that is declared or that the history tells of.
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
		return fmt.Errorf("nothing is told since %s of what is asked for, and %w", clock.At(q.Since), err)
	}
	return nil
}
