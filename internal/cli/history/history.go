// Package history is the command gpupool history.
package history

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/memory"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const historyHelp = `Print what happened to pools and budgets, and why: one line for each event, the
newest last. Events are what runs, applies and people did, saw and failed at. NAME is
that of a pool, REGION/NAME as well, or of a budget, or a pattern such as 'team-*'.

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
		ValidArgsFunction: o.store.CompleteNames(false, store.SpotPools, store.Budgets),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	f.StringVar(&o.since, "since", "24h", "from when on: a `duration` before now (6h, 7d), or a moment (2026-11-21T06:00:00Z; 2026-11-21 14:00 or 14:00, in local time)")
	f.StringVar(&o.until, "until", "", "up to when, as --since says it (now)")
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

// Report is the JSON of history.
type Report struct {
	SchemaVersion int             `json:"schema_version"`
	Store         string          `json:"store"`
	Since         time.Time       `json:"since"`
	Until         time.Time       `json:"until"`
	Events        []history.Event `json:"events"`
	Lost          []string        `json:"lost"`                // what of it can't be read
	KeptSince     time.Time       `json:"kept_since,omitzero"` // what was before is no longer kept
}

func (o *options) run(ctx context.Context, names []string) error {
	query, err := o.query(names)
	if err != nil {
		return process.WrongUsage(err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	kept := &memory.Memory{Store: place, Now: o.session.Now}
	answer, err := kept.Ask(ctx, query)
	if err != nil {
		return err
	}
	if err := o.known(ctx, place, query, answer.Objects); err != nil {
		return err
	}
	r := Report{
		SchemaVersion: 1, Store: place.String(), Since: query.Since.UTC(), Until: query.Until.UTC(),
		Events: answer.Events, Lost: answer.Lost, KeptSince: answer.KeptSince,
	}
	if r.Events == nil {
		r.Events = []history.Event{}
	}
	if r.Lost == nil {
		r.Lost = []string{}
	}
	if !o.session.JSON() {
		o.session.Warn(r.Lost...)
	}
	if r.KeptSince.After(r.Since) && !o.session.JSON() {
		o.session.Warn(fmt.Sprintf("what was before %s is no longer kept", r.KeptSince.Local().Format(time.DateTime)))
	}
	if o.session.CSV() {
		return o.putCSV(r.Events)
	}
	return o.session.Print(r, func(style terminal.Style) string { return text(style, r, o.verbose, time.Local) })
}

// query is what the arguments ask for.
func (o *options) query(names []string) (history.Query, error) {
	now := o.session.Now()
	q := history.Query{Names: names, Until: now.Add(time.Minute)} // of clocks that are a little fast
	var err error
	if q.Since, err = moment("since", o.since, now, time.Local); err != nil {
		return q, err
	}
	if o.until != "" {
		if q.Until, err = moment("until", o.until, now, time.Local); err != nil {
			return q, err
		}
	}
	for _, kind := range o.kinds {
		q.Kinds = append(q.Kinds, history.Kind(strings.TrimSpace(kind)))
	}
	return q, q.Validate()
}

// known fails where a name is of nothing that is declared or that the history tells of.
func (o *options) known(ctx context.Context, place store.Store, q history.Query, told []string) error {
	objects := slices.Clone(told)
	for _, name := range q.Names {
		fits := func(object string) bool { return history.Fits(name, object) }
		if slices.ContainsFunc(objects, fits) {
			continue
		}
		declared, err := connect.Declared(ctx, place)
		if err != nil {
			return err
		}
		if objects = append(objects, declared...); slices.ContainsFunc(objects, fits) {
			continue
		}
		return fmt.Errorf("no pool and no budget %s is declared in the store %s, and nothing is told of one since %s: %s",
			name, place, q.Since.Local().Format(time.DateTime), describe.There(objects))
	}
	return nil
}

func (o *options) putCSV(events []history.Event) error {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	_ = w.Write(history.Titles()) // a buffer takes everything
	for n := range events {
		_ = w.Write(events[n].Cells())
	}
	w.Flush()
	return o.session.Put(out.String())
}
