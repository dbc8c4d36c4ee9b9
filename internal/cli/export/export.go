// Package export is the command gpupool export.
package export

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const exportHelp = `Write all that a store keeps of its ledgers or of its history, for other programs. In
a directory there is a file for each cluster and day,

  cluster=UID/day=2026-11-21/ledger.parquet

so that the files of many clusters in one place are one table to DuckDB, Spark or
Trino. An interval is in the file of the day on which it began, an event in that of its
own; days are those of UTC. What had to do with no cluster is under cluster=none.

Exporting again brings the files up to date: rows are known by their uid or id, what is
no longer in the store stays, and each file is written whole or not at all.`

const exportExamples = `  gpupool export ledger --to /mnt/gpu-hours
  gpupool export history --to /mnt/gpu-events

  # All in one stream
  gpupool export ledger --format csv --to - | gzip > ledger.csv.gz`

// The forms in which rows are written.
const (
	asParquet = "parquet"
	asCSV     = "csv"
	asJSON    = "json"
)

type options struct {
	session        *process.Session
	store          connect.StoreFlags
	format, to     string
	source, called string
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s, format: asParquet}
	cmd := &cobra.Command{
		Use:       "export ledger|history",
		Short:     "Write the ledger or the history as Parquet, CSV or JSON",
		Long:      exportHelp,
		Example:   exportExamples,
		ValidArgs: []string{string(store.Ledger), string(store.History)},
		Args:      cobra.MatchAll(cobra.ExactArgs(1), cobra.OnlyValidArgs),
		RunE:      s.Command(o.run),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	process.ChoiceVar(cmd, &o.format, "format", "", "write Parquet, CSV with a header, or JSON with one object a line", asParquet, asCSV, asJSON)
	f.StringVar(&o.to, "to", "", "`DIR`, or - for standard output")
	f.StringVar(&o.source, "source", "", "what tells this store's files under cluster=none from those of other stores (a hash of where it is)")
	return cmd
}

func (o *options) run(ctx context.Context, args []string) error {
	o.called = args[0]
	switch {
	case o.to == "":
		return process.Usagef("--to must say where: a directory, or - for standard output")
	case o.to == "-" && o.format == asParquet && o.session.Style().IsTerminal():
		return process.Usagef("Parquet is not for a terminal: send it to a file or a program, or write --format csv or json")
	case strings.ContainsAny(o.source, `/\`):
		return process.Usagef("--source is part of a file's name, and can't have a slash in it")
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	if o.called == string(store.Ledger) {
		rows, err := o.intervals(ctx, place)
		if err != nil {
			return err
		}
		return put(o, place, intervalTable, rows)
	}
	events, err := o.events(ctx, place)
	if err != nil {
		return err
	}
	return put(o, place, eventTable, events)
}

// put writes rows to where they were asked for.
func put[T any](o *options, place store.Store, t table[T], rows []T) error {
	if o.to == "-" {
		data, err := t.encode(o.format, rows, nil)
		if err != nil {
			return err
		}
		stdout := o.session.Stdout
		if o.format == asParquet { // which has no characters that could steer
			stdout = terminal.Raw(stdout)
		}
		return process.PutTo(stdout, string(data))
	}
	parts := map[part][]T{}
	for _, row := range rows {
		p := t.part(&row)
		parts[p] = append(parts[p], row)
	}
	source := o.source
	if source == "" {
		source = sourceOf(place)
	}
	days := map[string]bool{}
	for p, rows := range parts {
		days[p.day] = true
		if err := t.write(o.to, p.file(o.called, source, o.format), o.format, rows); err != nil {
			return err
		}
	}
	text := fmt.Sprintf("%s of %s in %s below %s\n", describe.Plural(len(rows), t.called), describe.Plural(len(days), "day"), describe.Plural(len(parts), "file"), o.to)
	if len(rows) == 0 {
		text = fmt.Sprintf("the store %s has no %s: nothing was written\n", place, o.called)
	}
	return o.session.Put(text)
}

// warn says once each what can't be exported.
func (o *options) warn(texts []string) {
	slices.Sort(texts)
	o.session.Warn(slices.Compact(texts)...)
}
