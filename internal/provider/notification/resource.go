// Package notification is the resource gpupool_notification: its schema, the conversion of its
// values to a declaration, its plans, and the calls of package reconcile/notifications.
//
// The core package of the same name, imported as core, decides what a notification sends.
package notification

import (
	"context"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	core "github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/notifications"
)

// TypeName is the resource's name in Terraform.
const TypeName = "gpupool_notification"

var (
	_ resource.ResourceWithConfigure      = (*notificationResource)(nil)
	_ resource.ResourceWithIdentity       = (*notificationResource)(nil)
	_ resource.ResourceWithImportState    = (*notificationResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*notificationResource)(nil)
	_ resource.ResourceWithValidateConfig = (*notificationResource)(nil)
)

type notificationResource struct {
	kit.Resource[model, core.Declaration, notifications.State, flow]
}

// defaultTimeout is enough for a few calls of the store.
const defaultTimeout = 5 * time.Minute

// recordedKey is the key, in Terraform's private state, of whether the store had a record of the
// notification at the last refresh.
const recordedKey = "recorded"

// flow is the part of the flow that applies use.
type flow interface {
	Create(ctx context.Context, d core.Declaration) (notifications.State, error)
	Update(ctx context.Context, d core.Declaration) (notifications.State, error)
	Delete(ctx context.Context, d core.Declaration) (message reason.Reason, err error)
}

// NewResource returns the resource gpupool_notification.
func NewResource() resource.Resource {
	r := &notificationResource{}
	r.Kind = kit.Kind[model, core.Declaration, notifications.State, flow]{
		Type: TypeName, Title: "notification", Timeout: defaultTimeout,
		Declaration: func(m model, _ *diag.Diagnostics) core.Declaration { return m.declaration() },
		Identity:    func(m model) any { return kit.NameIdentity{Name: m.Name} },
		Problems:    model.problems, Import: r.find, WriteOnly: model.writeOnly,
		PlanCreate: r.planCreate, PlanUpdate: r.planUpdate, PlanDestroy: r.PlanDestroyRecorded,
		Flow: func(ctx context.Context) (flow, error) { return r.Connection.Notifications(ctx) },
		Create: func(ctx context.Context, f flow, _ model, d *core.Declaration, _ time.Duration) (notifications.State, error) {
			return f.Create(ctx, *d)
		},
		Update: func(ctx context.Context, f flow, _ model, d, _ core.Declaration, _ time.Duration) (notifications.State, error) {
			return f.Update(ctx, d)
		},
		Delete: remove, View: r.view,
		Found: func(s notifications.State) kit.Found {
			return kit.Found{Recorded: s.Recorded, Destroyed: s.Destroyed, Deleting: s.Deleting}
		},
		Refresh: func(ctx context.Context, m model, _ core.Declaration, s notifications.State, resp *resource.ReadResponse) (model, error) {
			if s.Recorded {
				m = m.declared(s.Declaration)
				resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
			}
			return m, nil
		},
		Filled: func(m, _ model, s notifications.State) model { return m.filled(s.Declaration) }, Keep: keep,
		Warn: func(diags *diag.Diagnostics, m model, at kit.Moment, s notifications.State) {
			r.Warn(diags, m, at, s.Warnings)
		},
	}
	return r
}

func (r *notificationResource) view(ctx context.Context, d core.Declaration) (notifications.State, error) {
	reader, err := r.Connection.ReadNotifications(ctx)
	if err != nil {
		return notifications.State{}, err
	}
	return reader.View(ctx, d)
}

func remove(ctx context.Context, f flow, d core.Declaration, _ time.Duration) (left diag.Diagnostics, err error) {
	message, err := f.Delete(ctx, d)
	if !message.IsZero() {
		left.Append(problem.Warning(path.Empty(), reason.NotificationHadEvents(reason.Word(d.Name), reason.Paragraphs{message})))
	}
	return left, err
}

func keep(ctx context.Context, _ model, state notifications.State, private connection.PrivateWriter) diag.Diagnostics {
	return private.SetKey(ctx, recordedKey, strconv.AppendBool(nil, state.Recorded))
}
