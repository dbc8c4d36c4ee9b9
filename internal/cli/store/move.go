package store

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	stored "github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/move"
)

const moveHelp = `Move a store with all of its documents: declarations, journals, the ledger, the
history, grants, holds, pauses, statuses and tombstones. Each of FROM and TO is
directory:DIR or kubernetes:NAMESPACE; two namespaces are in the same cluster.

TO must be empty or new. During the move, every command that opens FROM or TO fails
and names the other one. Afterwards FROM only names TO, so that a forgotten cron job
or Terraform configuration cannot use it.

If a move was interrupted, run it again: it resumes. Until everything is copied,
--cancel makes FROM usable again instead.

The command refuses a store in which a run or an apply is in progress. It also refuses
one with an unreadable document, and one that was moved before.`

const moveExamples = `  # List what would be moved
  gpupool store move directory:/srv/gpupool kubernetes:gpupool-system --dry-run

  # Move it
  gpupool store move directory:/srv/gpupool kubernetes:gpupool-system`

type moveOptions struct {
	session *process.Session
	store   connect.StoreFlags
	dryRun  bool
	cancel  bool
}

func newMove(s *process.Session) *cobra.Command {
	o := &moveOptions{session: s}
	cmd := &cobra.Command{
		Use:     "move FROM TO",
		Short:   "Move a store with all of its documents",
		Long:    moveHelp,
		Example: moveExamples,
		Args:    process.Arguments("gpupool store move directory:/srv/gpupool kubernetes:gpupool-system", "FROM", "TO"),
		RunE:    s.Command(func(ctx context.Context, args []string) error { return o.run(ctx, args[0], args[1]) }),
	}
	o.store.RegisterCluster(cmd, s)
	cmd.Flags().BoolVar(&o.dryRun, "dry-run", false, "List what would be moved, and write nothing.")
	cmd.Flags().BoolVar(&o.cancel, "cancel", false, "Make FROM usable again after an interrupted move.")
	cmd.MarkFlagsMutuallyExclusive("dry-run", "cancel")
	s.LogFlags(cmd)
	s.OutputFlag(cmd)
	return cmd
}

// Outcomes of a move.
const (
	moved       = "moved"
	movedBefore = "moved-before"
	canceled    = "canceled"
)

// moveReport is the JSON of move. It contains the documents of a moved store.
type moveReport struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The old location.
	From string `json:"from"`
	// The new location.
	To string `json:"to"`
	// Whether it was a dry run.
	DryRun bool `json:"dry_run"`
	// `moved`, `moved-before` or `canceled`. Empty for a dry run.
	Outcome string `json:"outcome"`
	// The documents, by kind.
	Documents []moveCount `json:"documents"`
}

type moveCount struct {
	// The kind of the documents.
	Kind string `json:"kind"`
	// The number of documents.
	Documents int `json:"documents"`
	// Their size.
	Bytes int `json:"bytes"`
}

func (o *moveOptions) run(ctx context.Context, from, to string) error {
	at, err := locations(from, to)
	if err != nil {
		return err
	}
	r := moveReport{SchemaVersion: 1, From: at[0].String(), To: at[1].String(), DryRun: o.dryRun}
	source, err := o.store.Movable(ctx, at[0], false)
	if err != nil {
		return err
	}
	if o.cancel {
		r.Outcome = canceled
		if err := move.Cancel(ctx, source, at[1]); err != nil {
			return err
		}
		return o.session.Print(r, func(terminal.Style) string { return r.text() })
	}
	mark, err := source.Mark(ctx)
	if err != nil {
		return err
	}
	if mark != (stored.Mark{}) && mark != stored.MovingTo(at[1]) && mark != stored.MovedTo(at[1]) {
		return mark.Refuses(source) // before the target is created
	}
	if err := apart(at[0], at[1]); err != nil {
		return process.WrongUsage(err)
	}
	documents, err := o.movable(ctx, source)
	if err != nil {
		return err
	}
	r.count(documents)
	// After a complete move, no new target is created.
	target, err := o.store.Movable(ctx, at[1], !o.dryRun && mark != stored.MovedTo(at[1]))
	if errors.Is(err, stored.ErrNoStore) && o.dryRun {
		target, err = nil, nil
	}
	if err != nil {
		return err
	}
	if err := fits(target, documents); err != nil {
		return err
	}
	if o.dryRun {
		r.Outcome, err = planned, refusal(ctx, source, target)
	} else {
		r.Outcome, err = o.move(ctx, source, target)
	}
	if err != nil {
		return err
	}
	return o.session.Print(r, func(terminal.Style) string { return r.text() })
}

// locations parses the arguments.
func locations(from, to string) (at [2]stored.Location, err error) {
	for n, text := range []string{from, to} {
		location, err := stored.Parse(text)
		if err != nil {
			return at, process.WrongUsage(err)
		}
		at[n] = location.Absolute()
	}
	if at[0] == at[1] {
		return at, process.WrongUsage(fmt.Errorf("FROM and TO are both %s: use another TO", at[0]))
	}
	return at, nil
}

// movable are the documents of a store, or an error if it cannot be moved.
func (o *moveOptions) movable(ctx context.Context, source stored.Movable) ([]stored.Document, error) {
	remains, err := o.store.RemainsAt(source.Location())
	if err != nil {
		return nil, err
	}
	strange, err := remains.Strange(ctx)
	if err != nil {
		return nil, err
	}
	if len(strange) > 0 {
		return nil, fmt.Errorf("nothing was moved: %s contains %s, which does not belong to a store. Move it away, or upgrade gpupool "+
			"if a newer version wrote it", source, strings.Join(strange, ", "))
	}
	documents, err := move.Contents(ctx, source)
	if err != nil {
		return nil, fmt.Errorf("nothing was moved: restore the unreadable document from a backup, or move it away: %w", err)
	}
	return documents, nil
}

// fits is an error if a document is too large for the target.
func fits(target stored.Movable, documents []stored.Document) error {
	for _, d := range documents {
		if target == nil {
			return nil
		}
		if err := target.Fits(d.Key, d.Data); err != nil {
			return fmt.Errorf("nothing was moved: %w", err)
		}
	}
	return nil
}

// refusal is why a move would be refused; target is nil if it does not exist.
func refusal(ctx context.Context, source, target stored.Movable) error {
	if target == nil {
		return nil
	}
	from, err := source.Mark(ctx)
	if err != nil {
		return err
	}
	to, err := target.Mark(ctx)
	if err != nil || from == stored.MovedTo(target.Location()) {
		return err
	}
	if err := (move.Move{From: source, To: target}).Refuses(from, to); err != nil || to == stored.MovingFrom(source.Location()) {
		return err
	}
	there, err := move.Contents(ctx, target)
	if err == nil && len(there) > 0 {
		err = move.ErrNotEmpty(target, len(there))
	}
	return err
}

func (o *moveOptions) move(ctx context.Context, source, target stored.Movable) (string, error) {
	objects, err := connect.Declared(ctx, source)
	if err != nil {
		return "", err
	}
	locks := []string{"pauses", "history"}
	for _, object := range objects {
		if locks = append(locks, object); strings.HasPrefix(object, "spot_pool/") {
			locks = append(locks, "create/"+object)
		}
	}
	done, err := move.Move{From: source, To: target, Locks: locks}.Do(ctx)
	if err == nil && !done {
		return movedBefore, nil
	}
	return moved, err
}

// count counts the documents by kind.
func (r *moveReport) count(documents []stored.Document) {
	r.Documents = []moveCount{}
	for _, kind := range stored.Kinds() {
		c := moveCount{Kind: string(kind)}
		for _, d := range documents {
			if d.Key.Kind == kind {
				c.Documents++
				c.Bytes += len(d.Data)
			}
		}
		r.Documents = append(r.Documents, c)
	}
}

func (r *moveReport) text() string {
	var out bytes.Buffer
	if r.Outcome == planned || r.Outcome == moved {
		var table terminal.Table
		table.Add("KIND", "DOCUMENTS", "BYTES")
		for _, c := range r.Documents {
			table.Add(c.Kind, fmt.Sprint(c.Documents), fmt.Sprint(c.Bytes))
		}
		table.Write(&out)
		out.WriteString("\n")
	}
	switch r.Outcome {
	case planned:
		fmt.Fprintf(&out, "would move %s to %s\n", r.From, r.To)
	case moved:
		fmt.Fprintf(&out, "moved %s to %s\nUse %[2]s from now on in --store, GPUPOOL_STORE and the provider argument store\n", r.From, r.To)
	case movedBefore:
		fmt.Fprintf(&out, "%s was already moved to %s\n", r.From, r.To)
	default:
		fmt.Fprintf(&out, "%s can be used again; %s stays reserved for this move\n", r.From, r.To)
	}
	return out.String()
}
