package outcome

import (
	"context"
	"log/slog"
	"strings"
)

type runKey struct{}

// WithRun returns a context with a run ID for logs.
func WithRun(ctx context.Context, id string) context.Context {
	return context.WithValue(ctx, runKey{}, id)
}

// RunID is the run ID of a context; empty if it has none.
func RunID(ctx context.Context) string {
	id, _ := ctx.Value(runKey{}).(string)
	return id
}

// About is the attribute with the object: the pool ap-singapore/train for
// "spot_pool/ap-singapore/train".
func About(object string) slog.Attr {
	kind, name, _ := strings.Cut(object, "/")
	if kind == "spot_pool" {
		kind = "pool"
	}
	return slog.String(kind, name)
}

// Attrs are the fields of an error in logs.
func (e *ErrorReport) Attrs() []slog.Attr {
	var attrs []slog.Attr
	for _, field := range []slog.Attr{
		slog.String("class", string(e.Class)), slog.String("code", e.Code), slog.String("request_id", e.RequestID), slog.String("detail", e.Message),
	} {
		if field.Value.String() != "" {
			attrs = append(attrs, field)
		}
	}
	return attrs
}

// LogDecision logs a decision: its kind and outcome as the message, such as "launch done",
// and its object as fields.
func (p Reporter) LogDecision(ctx context.Context, r Result) {
	level := slog.LevelInfo
	switch r.Outcome {
	case Failed:
		level = slog.LevelError
	case Short, Skipped:
		level = slog.LevelWarn
	}
	attrs := []slog.Attr{About(r.Object())}
	if of, ok := r.Decision.(slog.LogValuer); ok {
		attrs = append(attrs, of.LogValue().Group()...)
	}
	if r.Error != nil {
		attrs = append(attrs, r.Error.Attrs()...)
	} else {
		attrs = append(attrs, slog.String("detail", strings.Join(r.Reasons().Texts(), "; ")))
	}
	p.Logger().LogAttrs(ctx, level, r.Kind()+" "+string(r.Outcome), attrs...)
}
