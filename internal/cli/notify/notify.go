// Package notify is the command gpupool notify.
package notify

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

const help = `List the notifications and their deliveries, or send a test message.

Declare notifications with the Terraform resource gpupool_notification. Each run of
"gpupool reconcile" sends the events that a notification selects. It retries a
failed delivery, and a failed delivery never fails a run.

A test message ignores quiet hours, and changes nothing.`

const examples = `  # All notifications, failing ones with their errors
  gpupool notify

  # Send a test message
  gpupool notify --test ops`

type options struct {
	session *process.Session
	store   connect.StoreFlags
	test    bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:     "notify [--test] [NAME]",
		Short:   "List notifications, or send a test message",
		Long:    help,
		Example: examples,
		Args:    cobra.MaximumNArgs(1),
		RunE:    s.Command(o.run),

		ValidArgsFunction: o.store.CompleteNames(true, store.Notifications),
	}
	o.store.Register(cmd, s)
	cmd.Flags().BoolVar(&o.test, "test", false, "Send a test message of the notification NAME.")
	s.OutputFlag(cmd)
	return cmd
}

// list is the JSON of notify.
type list struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The notifications.
	Notifications []notifications.Description `json:"notifications"`
}

// tested is the JSON of notify --test.
type tested struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// The notification.
	Name string `json:"name"`
	// The protocol of the receiver, which accepted the test message.
	Type notification.Type `json:"type"`
}

func (o *options) run(ctx context.Context, args []string) error {
	if o.test && len(args) == 0 {
		return process.WrongUsage(errors.New("name the notification to test, such as \"gpupool notify --test ops\""))
	}
	place, err := o.store.Open(ctx, false)
	if err != nil {
		return err
	}
	flow := o.store.StoreWorld(place).Notifications()
	if o.test {
		return o.sendTest(ctx, flow, nameOf(args[0]))
	}
	all, err := flow.Describe(ctx)
	if err != nil {
		return err
	}
	if len(args) == 1 {
		d, err := flow.Find(ctx, nameOf(args[0]))
		if err != nil {
			return err
		}
		all = only(all, d.Name)
	}
	return o.session.Print(list{1, all}, func(style terminal.Style) string {
		lines := describe.Notifications(style, o.session.Clock().WithZone(), all)
		if len(lines) == 0 {
			return "No notifications.\n"
		}
		return strings.Join(lines, "\n") + "\n"
	})
}

func (o *options) sendTest(ctx context.Context, flow *notifications.Flow, name string) error {
	d, err := flow.Test(ctx, name)
	var failure *notification.Failure
	switch {
	case errors.As(err, &failure) && failure.Remedy() != "":
		return fmt.Errorf("%s: the test message was not delivered: %w\n%s", d.Object(), failure, failure.Remedy())
	case errors.As(err, &failure):
		return fmt.Errorf("%s: the test message was not delivered: %w", d.Object(), failure)
	case err != nil:
		return err
	}
	return o.session.Print(tested{1, d.Name, d.Type}, func(terminal.Style) string {
		return fmt.Sprintf("%s: %s accepted the test message\n", d.Object(), d.Type)
	})
}

func nameOf(arg string) string { return strings.TrimPrefix(arg, "notification/") }

func only(all []notifications.Description, name string) []notifications.Description {
	for _, d := range all {
		if d.Name == name {
			return []notifications.Description{d}
		}
	}
	return nil
}
