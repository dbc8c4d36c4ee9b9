package describe

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/state"
)

// Notifications returns a table of notifications, and the errors of failing ones.
func Notifications(style terminal.Style, clock terminal.Clock, all []notifications.Description) []string {
	if len(all) == 0 {
		return nil
	}
	t := &terminal.Table{}
	t.Add("NOTIFICATION", "TYPE", "STATE", "DELIVERED", "PENDING", "LAST")
	var errs []string
	for _, d := range all {
		last := "-"
		if !d.DeliveredAt.IsZero() {
			last = clock.At(d.DeliveredAt)
		}
		color := terminal.Green
		if d.State != state.InSync {
			color = terminal.Red
		}
		t.Add(d.Name, string(d.Type), style.Paint(color, string(d.State)), fmt.Sprint(d.Delivered), fmt.Sprint(d.Pending), last)
		if message := d.Reason().String(); message != "" {
			errs = append(errs, terminal.Wrap(clock.Text(message), style.Width, "  ")...)
		}
	}
	return append(t.Lines(), errs...)
}
