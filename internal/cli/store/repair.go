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
)

const repairHelp = `Write anew what makes a directory or a namespace a store, where that was lost and
the documents of a store are there: the file store.json, or the ConfigMap
gpupool.store. It first reads every document, and tells how many there are of
each kind and which of them can't be read. No document is changed.

It also names active pools without a journal, and objects whose records are lost, by
what is left of them: instances that a journal knows, for example.

A store that is sound is left as it is, with exit code 0. The exit code is 3 if
documents can't be read, or journals or records are missing, also with --dry-run: use
it as a check. It is 1 if nothing can be read, or if it refuses. Refused are a place
without a document that can be read (terraform apply makes a new store), one that
holds what no store has, and one that a newer gpupool wrote to. A description
that is there and can't be read must be moved away first.`

const repairExamples = `  # What is there, and whether it would work
  gpupool store repair --store directory:/srv/gpupool --dry-run

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
		Short:   "Write anew what makes a place a store, where the documents of one are there",
		Long:    repairHelp,
		Example: repairExamples,
		Args:    cobra.NoArgs,
		RunE:    s.Command(func(ctx context.Context, _ []string) error { return o.run(ctx) }),
	}
	o.store.Register(cmd, s)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "look, and write nothing")
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

// What becomes of a place.
const (
	isSound  = "sound"    // it was a store before
	planned  = "planned"  // in a dry run
	repaired = "repaired" // it is a store again
)

// report is the JSON of repair: the documents of a store.
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
		fmt.Errorf("%s in %s that repair can't fix", describe.Plural(len(found.problems), "problem"), remains))
}

// repair makes the place a store again, where it was one.
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
		return "", fmt.Errorf("nothing was written to %s: nothing in it is a document of a store", remains)
	case found.newer != nil:
		return "", fmt.Errorf("nothing was written to %s: %w", remains, found.newer)
	case len(strange) > 0:
		return "", fmt.Errorf("nothing was written to %s: it holds %s, which no store of this gpupool has: move away what is none of the store's, and "+
			"upgrade gpupool where a newer one wrote it", remains, strings.Join(strange, ", "))
	case readable == 0:
		return "", fmt.Errorf("nothing was written to %s: none of its %d documents can be read: %s", remains, documents, found.problems[0].Error)
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
		fmt.Fprintf(&out, "%s is a store: its description needs no repair\n", r.Store)
	case r.Outcome == isSound:
		fmt.Fprintf(&out, "%s is a store: there is nothing to repair\n", r.Store)
	case r.Outcome == planned:
		fmt.Fprintf(&out, "would make %s a store again\n", r.Store)
	default:
		fmt.Fprintf(&out, "%s is a store again\n", r.Store)
	}
	return out.String()
}
