// Package declare is the command gpupool declare.
package declare

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/budgets"
)

const declareHelp = `Declare budgets in a YAML file, without Terraform.

The file lists all budgets that it manages. Budgets of an earlier file that are no longer
in it are deleted. Budgets that Terraform manages stay as they are: to hand a budget over,
run terraform import, apply, and remove it from the file.

  budgets:
    team-a:
      gpuHours: 100
      window: 7d            # or period: day, week, month, quarter; default: 7d
      timeZone: UTC         # of a period
      thresholds: [50, 80, 100]
      selector:             # also namespaces, namespaceLabels, matchExpressions
        matchLabels: {team: a}

These budgets only alert (alert_only). Terraform has all arguments. The Helm chart runs
this command with the budgets of its values.`

const declareExamples = `  # Declare the budgets of a file
  gpupool declare budgets.yaml --store kubernetes:gpupool-system

  # Delete all budgets that files declared
  echo 'budgets: {}' | gpupool declare -`

type options struct {
	session *process.Session
	store   connect.StoreFlags
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "declare FILE",
		Short:   "Declare budgets in a file, without Terraform",
		Long:    declareHelp,
		Example: declareExamples,
		Args:    process.Arguments("gpupool declare budgets.yaml", "FILE"),
		RunE:    s.Command(o.run),
	}
	o.store.Register(cmd, s)
	s.LogFlags(cmd)
	return cmd
}

func (o *options) run(ctx context.Context, args []string) error {
	stream, name, err := o.session.Input(args[0])
	if err != nil {
		return fmt.Errorf("cannot read the budgets: %w", err)
	}
	defer stream.Close()
	data, err := io.ReadAll(io.LimitReader(stream, sizeAtMost+1))
	if err != nil {
		return fmt.Errorf("cannot read the budgets: %w", err)
	}
	list, err := Parse(data)
	if err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	w := o.store.World(place, nil, o.store.Cluster())
	w.LockTimeout = time.Minute
	done, err := w.Budgets().DeclareFile(ctx, list)
	var text strings.Builder
	for _, one := range done {
		if one.Change == budgets.Kept {
			o.session.Warn(one.Object + " is managed by Terraform and not changed: remove it from " + name)
			continue
		}
		o.session.Warn(one.Messages.Texts()...)
		fmt.Fprintf(&text, "%s %s\n", one.Change, one.Object)
	}
	if putErr := o.session.Put(text.String()); err == nil {
		err = putErr
	}
	return err
}
