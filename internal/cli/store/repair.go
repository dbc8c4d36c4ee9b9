package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	stored "github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

const repairHelp = `Restore the description of a store that lost it: the file store.json of a directory,
or the ConfigMap gpupool.store of a namespace. Every document is read first, and
unreadable ones are listed. No document is changed.

Active pools without a journal, and objects with a lost record, are listed also.

The exit code is 0 if the store is sound or was repaired. It is 3 if documents are
unreadable or missing, also with --dry-run. It is 1 if the store is refused or nothing
is readable.

The command refuses a place without a readable document: terraform apply creates a new
store. It also refuses foreign files or objects, and documents of a newer gpupool. Move
an unreadable description away first.`

const repairExamples = `  # Check a store
  gpupool store repair --store directory:/srv/gpupool --dry-run

  # Repair it
  gpupool store repair --store directory:/srv/gpupool
  gpupool store repair --store kubernetes:gpupool-system`

type repairOptions struct {
	session *process.Session
	store   connect.StoreFlags
	dryRun  bool
}

func newRepair(s *process.Session) *cobra.Command {
	o := &repairOptions{session: s}
	cmd := &cobra.Command{
		Use:     "repair",
		Short:   "Restore the description of a store",
		Long:    repairHelp,
		Example: repairExamples,
		Args:    process.NoArguments,
		RunE:    s.Command(func(ctx context.Context, _ []string) error { return o.run(ctx) }),
	}
	o.store.Register(cmd, s)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "Check, and write nothing.")
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

// Outcomes of a repair.
const (
	isSound  = "sound"   // no repair needed
	planned  = "planned" // a dry run
	repaired = "repaired"
)

// report is the JSON of repair. It contains the documents of a store.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The location of the store.
	Store string `json:"store"`
	// Whether it was a dry run.
	DryRun bool `json:"dry_run"`
	// `sound` if it was a store before, `planned` in a dry run, or `repaired`.
	Outcome string `json:"outcome"`
	// The documents, by kind.
	Documents []count `json:"documents"`
	// Documents that cannot be read or are missing.
	Problems []problem `json:"problems"`
}

func (o *repairOptions) run(ctx context.Context) error {
	_, absent := o.store.Open(ctx, false)
	if absent != nil && !errors.Is(absent, stored.ErrUndescribed) && !errors.Is(absent, stored.ErrNoStore) {
		return absent
	}
	remains, err := o.store.Remains()
	if err != nil {
		return err
	}
	found, err := readAll(ctx, remains)
	if err != nil {
		return err
	}
	r := report{
		SchemaVersion: 1, Store: remains.String(), DryRun: o.dryRun, Outcome: isSound,
		Documents: found.counts, Problems: found.problems,
	}
	if absent != nil {
		if r.Outcome, err = o.repair(ctx, remains, found, absent); err != nil {
			return err
		}
	}
	if err := o.session.Print(r, func(terminal.Style) string { return r.text() }); err != nil || len(found.problems) == 0 {
		return err
	}
	_, readable := found.total()
	return process.WithExitCode(process.Partly(readable),
		fmt.Errorf("%s in %s that repair cannot fix", describe.Plural(len(found.problems), "problem"), remains))
}

// repair restores the description of a store.
func (o *repairOptions) repair(ctx context.Context, remains stored.Remains, found findings, absent error) (string, error) {
	strange, err := remains.Strange(ctx)
	if err != nil {
		return "", err
	}
	documents, readable := found.total()
	switch {
	case documents == 0 && errors.Is(absent, stored.ErrNoStore):
		return "", absent
	case documents == 0:
		return "", fmt.Errorf("nothing was written to %s: it has no documents of a store", remains)
	case found.newer != nil:
		return "", fmt.Errorf("nothing was written to %s: %w", remains, found.newer)
	case len(strange) > 0:
		return "", fmt.Errorf("nothing was written to %s: it contains %s, which does not belong to a store. Move it away, or upgrade "+
			"gpupool if a newer version wrote it", remains, strings.Join(strange, ", "))
	case readable == 0:
		return "", fmt.Errorf("nothing was written to %s: none of its %s is readable: %s", remains, wording.Count(documents, "document"),
			found.problems[0].Error)
	case o.dryRun:
		return planned, nil
	}
	return repaired, remains.Describe(ctx)
}

func (r report) text() string {
	var table terminal.Table
	table.Add("KIND", "DOCUMENTS", "UNREADABLE")
	for _, c := range r.Documents {
		table.Add(c.Kind, fmt.Sprint(c.Documents), fmt.Sprint(c.Unreadable))
	}
	var out bytes.Buffer
	table.Write(&out)
	out.WriteString("\n")
	for _, p := range r.Problems {
		fmt.Fprintf(&out, "%s\n", p.Error)
	}
	switch {
	case r.Outcome == isSound && len(r.Problems) > 0:
		fmt.Fprintf(&out, "%s: the description needs no repair\n", r.Store)
	case r.Outcome == isSound:
		fmt.Fprintf(&out, "%s needs no repair\n", r.Store)
	case r.Outcome == planned:
		fmt.Fprintf(&out, "would repair %s\n", r.Store)
	default:
		fmt.Fprintf(&out, "repaired %s\n", r.Store)
	}
	return out.String()
}
