package kit

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/record"
)

// Resource has the operations of a resource, which embeds it and adds its schemas.
type Resource[M Model, D record.Declaration[D], S, F any] struct {
	Connection *connection.Connection
	Kind       Kind[M, D, S, F]
}

// Metadata names the resource.
func (r *Resource[M, D, S, F]) Metadata(_ context.Context, _ resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = r.Kind.Type
}

// Configure takes the provider's connection.
func (r *Resource[M, D, S, F]) Configure(_ context.Context, req resource.ConfigureRequest, resp *resource.ConfigureResponse) {
	r.Connection = connection.Of(req.ProviderData, &resp.Diagnostics)
}

// ValidateConfig checks the values that are known. Problems of an unknown value, or of
// what contains one, are left to a later call.
func (r *Resource[M, D, S, F]) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var m M
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	problems := append(r.Kind.Problems(m, &resp.Diagnostics), timeoutProblems(m.timeouts(), r.Kind.Timeout)...)
	problem.Report(&resp.Diagnostics, problem.Decided(problems, req.Config.Raw, resp.Diagnostics.Errors()), diag.SeverityError)
	if r.Kind.Doubts != nil && !resp.Diagnostics.HasError() && req.Config.Raw.IsFullyKnown() {
		problem.Report(&resp.Diagnostics, r.Kind.Doubts(r.Kind.Declaration(m, &resp.Diagnostics)), diag.SeverityWarning)
	}
}

// ModifyPlan predicts an apply. Terraform calls it again during the apply, and both results
// must agree. So each value comes from the configuration, the state and the private state.
// Tencent Cloud, the cluster and the store are only asked for errors and warnings.
func (r *Resource[M, D, S, F]) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	switch {
	case req.Plan.Raw.IsNull():
		r.Kind.PlanDestroy(ctx, req, resp)
	case req.State.Raw.IsNull():
		r.Kind.PlanCreate(ctx, req, resp)
	case r.deleting(ctx, req, &resp.Diagnostics):
		r.planAgain(ctx, req, resp)
	default:
		r.Kind.PlanUpdate(ctx, req, resp)
	}
}

// ImportState writes the state of what is found. Terraform then calls Read.
func (r *Resource[M, D, S, F]) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	m := r.Kind.Import(ctx, req, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
	resp.Diagnostics.Append(r.identify(ctx, m, resp.Identity)...)
}

// Create creates what is planned.
func (r *Resource[M, D, S, F]) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var m, none M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	d, wait := r.begin(r.written(ctx, m, req.Config, &resp.Diagnostics), "create", &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	state, err := within(ctx, r.Kind.Flow, wait+r.Kind.Slack, func(ctx context.Context, f F) (S, error) {
		return r.Kind.Create(ctx, f, m, &d, wait)
	})
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Creating(reason.Object(d.Object())), err))
		return
	}
	resp.Diagnostics.Append(r.save(ctx, r.Kind.Filled(m, none, state), state, &resp.State, resp.Identity, resp.Private)...)
}

// Update carries out what was changed.
func (r *Resource[M, D, S, F]) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	var m, prior M
	resp.Diagnostics.Append(req.Plan.Get(ctx, &m)...)
	resp.Diagnostics.Append(req.State.Get(ctx, &prior)...)
	d, wait := r.begin(r.written(ctx, m, req.Config, &resp.Diagnostics), "update", &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	was := r.Kind.Declaration(prior, &resp.Diagnostics)
	if !r.CheckStore(ctx, was, req.Private, &resp.Diagnostics) {
		return
	}
	d = d.WithIdentity(was.Identity())
	state, err := within(ctx, r.Kind.Flow, wait+r.Kind.Slack, func(ctx context.Context, f F) (S, error) {
		return r.Kind.Update(ctx, f, m, d, was, wait)
	})
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Updating(reason.Object(d.Object())), err))
	}
	if err == nil || r.Kind.KeepsFailed && r.Kind.Found(state).Recorded {
		resp.Diagnostics.Append(r.save(ctx, r.Kind.Filled(m, prior, state), state, &resp.State, resp.Identity, resp.Private)...)
	}
}

// Delete destroys what the state has.
func (r *Resource[M, D, S, F]) Delete(ctx context.Context, req resource.DeleteRequest, resp *resource.DeleteResponse) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	d, wait := r.begin(m, "delete", &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	left, err := within(ctx, r.Kind.Flow, wait+r.Kind.Slack, func(ctx context.Context, f F) (diag.Diagnostics, error) {
		return r.Kind.Delete(ctx, f, d, wait)
	})
	resp.Diagnostics.Append(left...)
	if notHere := (*record.LostError)(nil); errors.As(err, &notHere) {
		err = r.Connection.ErrLost(ctx, req.Private, *notHere)
	}
	if err != nil {
		resp.Diagnostics.Append(connection.Error(reason.Destroying(reason.Object(d.Object())), err))
		r.keepDeleting(ctx, m, d, resp)
	}
}

// within carries an operation of an apply out by its flow, for no longer than wait.
func within[F, T any](
	ctx context.Context, flow func(context.Context) (F, error), wait time.Duration, do func(context.Context, F) (T, error),
) (done T, err error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	f, err := flow(ctx)
	if err != nil {
		return done, err
	}
	return do(ctx, f)
}

// Read takes over the store's record and what is observed, and passes warnings on. A
// missing record does not mean that the object is gone: only a tombstone does.
func (r *Resource[M, D, S, F]) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var m M
	resp.Diagnostics.Append(req.State.Get(ctx, &m)...)
	d := r.Kind.Declaration(m, &resp.Diagnostics)
	if resp.Diagnostics.HasError() {
		return
	}
	doing := reason.Reading(reason.Object(d.Object()))
	state, err := r.Kind.View(ctx, d)
	found := r.Kind.Found(state)
	if err == nil && found.Destroyed {
		resp.Diagnostics.Append(r.identify(ctx, m, resp.Identity)...) // the framework asks for it even now
		resp.State.RemoveResource(ctx)
		return
	}
	if err == nil {
		m, err = r.Kind.Refresh(ctx, m, d, state, resp)
	}
	if err != nil {
		resp.Diagnostics.Append(connection.Error(doing, err))
		return
	}
	if uid, _ := d.Identity(); uid != "" && !found.Recorded {
		unknown := func() (bool, error) { return false, nil }
		if !r.Connection.CheckStore(ctx, doing, req.Private, r.lost(d), &resp.Diagnostics, unknown) {
			return
		}
		resp.Diagnostics.Append(r.Connection.LostStore()...)
	}
	resp.Diagnostics.Append(r.keep(ctx, m, state, resp.Identity, resp.Private)...)
	r.Kind.Warn(&resp.Diagnostics, m, reason.ObjectObserved, state)
}

// CheckStore adds an error to a plan if another store has the object. One that was imported
// and never applied is in none.
func (r *Resource[M, D, S, F]) CheckStore(ctx context.Context, d D, private connection.PrivateReader, diags *diag.Diagnostics) bool {
	if uid, _ := d.Identity(); uid == "" {
		return true
	}
	return r.Connection.CheckStore(ctx, reason.Planning(reason.Object(d.Object())), private, r.lost(d), diags, func() (bool, error) {
		state, err := r.Kind.View(ctx, d)
		return r.Kind.Found(state) != Found{}, err
	})
}

// ErrLost is the error about an object that the store knows nothing of.
func (r *Resource[M, D, S, F]) ErrLost(ctx context.Context, d D, private connection.PrivateReader) error {
	return r.Connection.ErrLost(ctx, private, r.lost(d))
}

func (r *Resource[M, D, S, F]) lost(d D) record.LostError {
	uid, _ := d.Identity()
	return record.LostError{Title: r.Kind.Title, Key: d.Key(), UID: uid}
}

// written are planned values with those that only the configuration has.
func (r *Resource[M, D, S, F]) written(ctx context.Context, m M, from tfsdk.Config, diags *diag.Diagnostics) M {
	if r.Kind.WriteOnly == nil {
		return m
	}
	var config M
	diags.Append(from.Get(ctx, &config)...)
	return r.Kind.WriteOnly(m, config)
}

func (r *Resource[M, D, S, F]) begin(m M, operation string, diags *diag.Diagnostics) (D, time.Duration) {
	wait, unread := TimeoutOf(m.timeouts(), operation, r.Kind.Timeout)
	diags.Append(unread...)
	return r.Kind.Declaration(m, diags), wait
}

// save writes an object's values, then what keep does, and passes warnings on.
func (r *Resource[M, D, S, F]) save(
	ctx context.Context, m M, state S, to *tfsdk.State, identity *tfsdk.ResourceIdentity, private connection.PrivateWriter,
) diag.Diagnostics {
	diags := to.Set(ctx, m)
	diags.Append(r.keep(ctx, m, state, identity, private)...)
	r.Kind.Warn(&diags, m, reason.ObjectApplied, state)
	return diags
}

// keep writes an object's identity and what later plans need.
func (r *Resource[M, D, S, F]) keep(
	ctx context.Context, m M, state S, identity *tfsdk.ResourceIdentity, private connection.PrivateWriter,
) diag.Diagnostics {
	diags := r.identify(ctx, m, identity)
	diags.Append(r.Kind.Keep(ctx, m, state, private)...)
	found := r.Kind.Found(state)
	diags.Append(r.Connection.RememberStore(ctx, private, found.Recorded)...)
	diags.Append(private.SetKey(ctx, deletingKey, strconv.AppendBool(nil, found.Deleting))...)
	return diags
}

// identify writes an object's identity. Terraform before 1.12 has none, and the framework
// asks for it in every answer.
func (r *Resource[M, D, S, F]) identify(ctx context.Context, m M, identity *tfsdk.ResourceIdentity) diag.Diagnostics {
	if identity == nil {
		return nil
	}
	return identity.Set(ctx, r.Kind.Identity(m))
}
