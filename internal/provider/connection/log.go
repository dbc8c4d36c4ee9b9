package connection

import (
	"context"
	"log/slog"

	"github.com/hashicorp/terraform-plugin-log/tflog"
)

// subsystem is the name under which the core logs: TF_LOG_PROVIDER applies.
const subsystem = "core"

// newLogger writes slog records to Terraform's log. The core logs without a context,
// so records get the context in which the connection was opened. No secret is meant
// to reach the log; masking them is a second guard.
func newLogger(ctx context.Context, secrets ...string) *slog.Logger {
	ctx = tflog.NewSubsystem(context.WithoutCancel(ctx), subsystem)
	for _, s := range secrets {
		if s != "" {
			ctx = tflog.SubsystemMaskAllFieldValuesStrings(ctx, subsystem, s)
			ctx = tflog.SubsystemMaskMessageStrings(ctx, subsystem, s)
		}
	}
	return slog.New(handler{ctx: ctx})
}

type handler struct {
	ctx    context.Context //nolint:containedctx // holds the sink, as tflog has it
	prefix string
	attrs  []slog.Attr // their keys carry the prefix already
}

func (h handler) Enabled(context.Context, slog.Level) bool { return true }

func (h handler) Handle(_ context.Context, r slog.Record) error {
	fields := make(map[string]any, len(h.attrs)+r.NumAttrs())
	for _, a := range h.attrs {
		put(fields, "", a)
	}
	r.Attrs(func(a slog.Attr) bool {
		put(fields, h.prefix, a)
		return true
	})
	write := tflog.SubsystemError
	switch {
	case r.Level < slog.LevelInfo:
		write = tflog.SubsystemDebug
	case r.Level < slog.LevelWarn:
		write = tflog.SubsystemInfo
	case r.Level < slog.LevelError:
		write = tflog.SubsystemWarn
	}
	write(h.ctx, subsystem, r.Message, fields)
	return nil
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	all := append([]slog.Attr{}, h.attrs...)
	for _, a := range attrs {
		all = append(all, slog.Attr{Key: h.prefix + a.Key, Value: a.Value})
	}
	h.attrs = all
	return h
}

func (h handler) WithGroup(name string) slog.Handler {
	if name != "" {
		h.prefix += name + "."
	}
	return h
}

// put flattens groups into dotted keys.
func put(fields map[string]any, prefix string, a slog.Attr) {
	value := a.Value.Resolve()
	if value.Kind() != slog.KindGroup {
		fields[prefix+a.Key] = textual(value.Any())
		return
	}
	if a.Key != "" {
		prefix += a.Key + "."
	}
	for _, member := range value.Group() {
		put(fields, prefix, member)
	}
}

// textual converts errors to texts, since masks apply only to texts.
func textual(v any) any {
	if err, ok := v.(error); ok {
		return err.Error()
	}
	return v
}
