// Package export is the command gpupool export.
package export

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const exportHelp = `Write the ledger or the history of a store as Parquet, CSV or JSON files, one for each
cluster and day:

  cluster=UID/day=2026-11-21/ledger.parquet

DuckDB, Spark and Trino read the files of many clusters as one table. An interval is
in the file of the day on which it began, an event in the file of its own day. Days
are in UTC. Rows without a cluster are in cluster=none.

Run it again to update the files. Rows are identified by uid or id; rows that are no
longer in the store are kept. Each file is replaced as a whole.`

const exportExamples = `  # GPU-hours, and events
  gpupool export ledger --to /mnt/gpu-hours
  gpupool export history --to /mnt/gpu-events

  # One stream
  gpupool export ledger --format csv --to - | gzip > ledger.csv.gz`

// File formats.
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
	lost           []string // unreadable parts
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s, format: asParquet}
	cmd := &cobra.Command{
		Use:       "export ledger|history",
		Short:     "Export the ledger or the history as Parquet, CSV or JSON",
		Long:      exportHelp,
		Example:   exportExamples,
		ValidArgs: []string{string(store.Ledger), string(store.History)},
		Args:      cobra.MatchAll(process.Arguments("gpupool export ledger --to /srv/ledger", "ledger|history"), cobra.OnlyValidArgs),
		RunE:      s.Command(o.run),
	}
	o.store.Register(cmd, s)
	f := cmd.Flags()
	process.ChoiceVar(cmd, &o.format, "format", "", "File format. JSON has one object a line.", asParquet, asCSV, asJSON)
	f.StringVar(&o.to, "to", "", "`DIR` of the files, or - for standard output. Required.")
	f.StringVar(&o.source, "source", "", "`NAME` of this store in file names of cluster=none. If omitted, a hash of its location.")
	return cmd
}

func (o *options) run(ctx context.Context, args []string) error {
	o.called = args[0]
	switch {
	case o.to == "":
		return process.Usagef("--to is missing: use a directory, or - for standard output")
	case o.to == "-" && o.format == asParquet && o.session.Style().IsTerminal():
		return process.Usagef("cannot write Parquet to a terminal: redirect it, or use --format csv or json")
	case strings.ContainsAny(o.source, `/\`):
		return process.Usagef("--source is part of file names and cannot contain a slash")
	}
	from, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	if o.called == string(store.History) {
		return put(o, from, eventTable, keepAll, func(tell func(*history.Event) error) error { return o.events(ctx, from, tell) })
	}
	rows, err := o.intervals(ctx, from)
	if err != nil {
		return err
	}
	slices.SortFunc(rows, func(a, b interval) int { return intervalTable.place(&a).compare(intervalTable.place(&b)) })
	keys := make(map[string]bool, len(rows))
	for _, row := range rows {
		keys[row.UID] = true
	}
	return put(o, from, intervalTable, func(key string) bool { return keys[key] }, func(tell func(*interval) error) error {
		for n := range rows {
			if err := tell(&rows[n]); err != nil {
				return err
			}
		}
		return nil
	})
}

// keepAll keeps earlier rows: events never change.
func keepAll(string) bool { return false }

// put writes rows to --to; all passes them on in the order of their time.
func put[T, R any](o *options, from store.Store, t table[T, R], replaced func(key string) bool, all func(tell func(*T) error) error) error {
	if o.to == "-" {
		if err := t.stream(o, all); err != nil {
			return err
		}
		return o.incomplete()
	}
	w := &writing[T, R]{table: t, options: o, source: cmp.Or(o.source, sourceOf(from)), replaced: replaced, open: map[part]*file[T]{}}
	err := all(w.add)
	if err == nil {
		err = w.endDay()
	}
	if err != nil {
		return errors.Join(err, w.abandon())
	}
	text := fmt.Sprintf("%s of %s in %s below %s\n", describe.Plural(w.rows, t.called), describe.Plural(w.days, "day"), describe.Plural(w.files, "file"), o.to)
	if w.rows == 0 && len(o.lost) == 0 {
		text = fmt.Sprintf("the store %s has no %s: no file was written\n", from, o.called)
	}
	return errors.Join(o.session.Put(text), o.incomplete())
}

// incomplete is an error if parts are unreadable.
func (o *options) incomplete() error {
	if len(o.lost) == 0 {
		return nil
	}
	return fmt.Errorf("cannot read %s of the %s, which is missing in the export", describe.Plural(len(o.lost), "part"), o.called)
}

// output is standard output.
type output struct{ io.Writer }

// Write implements io.Writer.
func (o output) Write(data []byte) (int, error) {
	return len(data), process.PutTo(o.Writer, string(data))
}

// stream writes rows to standard output.
func (t table[T, R]) stream(o *options, all func(tell func(*T) error) error) error {
	stdout := o.session.Stdout
	if o.format == asParquet { // binary
		stdout = terminal.Raw(stdout)
	}
	to, err := t.sink(o.format, output{stdout})
	if err == nil {
		err = all(func(row *T) error { return to.put(t.entry(row)) })
	}
	if err == nil {
		err = to.end()
	}
	return err
}

// writing has the open files of one day.
type writing[T, R any] struct {
	table[T, R]
	*options
	source            string
	replaced          func(key string) bool
	day               string
	open              map[part]*file[T]
	rows, days, files int
}

func (w *writing[T, R]) add(row *T) error {
	p := w.part(row)
	if p.day != w.day {
		if err := w.endDay(); err != nil {
			return err
		}
		w.day = p.day
		w.days++
	}
	f := w.open[p]
	if f == nil {
		var err error
		if f, err = w.table.open(filepath.Join(w.to, p.file(w.options.called, w.source, w.format)), w.format, w.replaced); err != nil {
			return err
		}
		w.open[p] = f
		w.files++
	}
	w.rows++
	return f.left(f.add(w.entry(row)))
}

// endDay replaces the files of the day.
func (w *writing[T, R]) endDay() error {
	for p, f := range w.open {
		delete(w.open, p)
		if err := f.replace(); err != nil {
			return err
		}
	}
	return nil
}

func (w *writing[T, R]) abandon() error {
	var errs []error
	for _, f := range w.open {
		errs = append(errs, f.abandon())
	}
	return errors.Join(errs...)
}

// warn warns once of each unreadable part.
func (o *options) warn(texts []string) {
	slices.Sort(texts)
	o.session.Warn(slices.Compact(texts)...)
}
