package reconcile

import (
	"context"
	"log/slog"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/outcome"
)

func (r *run) logBegun(ctx context.Context) {
	attrs := []slog.Attr{slog.Bool("dry_run", r.options.DryRun)}
	if len(r.options.Names) > 0 {
		attrs = append(attrs, slog.Any("names", r.options.Names))
	}
	r.log().LogAttrs(ctx, slog.LevelInfo, "run begun", attrs...)
}

// logDone logs every object that is out of sync, and what the run did.
func (r *run) logDone(ctx context.Context, report Report) {
	for _, b := range report.Budgets {
		attrs := []slog.Attr{slog.String("budget", b.Name)}
		if u := b.UsageReport; u != nil && u.LimitGPUHours != nil {
			attrs = append(attrs, slog.String("consumed_gpu_hours", u.ConsumedGPUHours), slog.String("limit_gpu_hours", *u.LimitGPUHours))
		}
		exceeded := b.UsageReport != nil && b.Exceeded != nil && *b.Exceeded
		if exceeded {
			r.log().LogAttrs(ctx, slog.LevelWarn, "budget exceeded", append(attrs, slog.Any("enforced", b.Enforced), slog.Any("effects", b.Effects))...)
		}
		r.logOutcome(ctx, "budget", b.Outcome, b.Error, nil, attrs...)
		r.logTexts(ctx, slog.LevelInfo, "budget notice", attrs[0], b.Messages.Texts())
		r.logTexts(ctx, slog.LevelWarn, "budget warning", attrs[0], b.Warnings.Texts())
	}
	for _, p := range report.SpotPools {
		attrs := []slog.Attr{slog.String("pool", p.Region+"/"+p.Name)}
		if p.Counts != nil {
			attrs = append(attrs, slog.Int("capacity", p.Capacity), slog.Int("minimum", p.Minimum), slog.Int("total", p.Total))
		}
		r.logOutcome(ctx, "pool", p.Outcome, p.Error, p.Short, attrs...)
		r.logTexts(ctx, slog.LevelInfo, "pool notice", attrs[0], p.Messages.Texts())
		r.logTexts(ctx, slog.LevelWarn, "pool warning", attrs[0], p.Warnings.Texts())
	}
	for _, p := range report.StockPools {
		attrs := []slog.Attr{slog.String("stock_pool", p.Namespace+"/"+p.Name)}
		if p.Status != nil {
			attrs = append(attrs, slog.String("phase", string(p.Phase)), slog.Int("available", p.Available), slog.Int("desired", p.Desired))
		}
		r.logOutcome(ctx, "stock pool", p.Outcome, p.Error, nil, attrs...)
		r.logTexts(ctx, slog.LevelInfo, "stock pool notice", attrs[0], p.Notices.Texts())
		r.logTexts(ctx, slog.LevelWarn, "stock pool warning", attrs[0], p.Warnings.Texts())
	}
	failed, _ := report.Failures()
	r.log().LogAttrs(ctx, slog.LevelInfo, "run done", slog.Int("spot_pools", len(report.SpotPools)), slog.Int("budgets", len(report.Budgets)),
		slog.Int("stock_pools", len(report.StockPools)),
		slog.Int("decisions", len(report.Decisions)), slog.Int("failed", failed), slog.Duration("took", report.FinishedAt.Sub(report.StartedAt)))
}

// logOutcome logs what failed, was skipped or left short.
func (r *run) logOutcome(ctx context.Context, kind string, became outcome.Outcome, err *outcome.ErrorReport, short []string, attrs ...slog.Attr) {
	level := slog.LevelWarn
	switch became {
	case outcome.Failed:
		level = slog.LevelError
	case outcome.Short, outcome.Skipped:
	default:
		return
	}
	switch {
	case err != nil:
		attrs = append(attrs, err.Attrs()...)
	case len(short) > 0:
		attrs = append(attrs, slog.String("detail", strings.Join(short, "; ")))
	}
	r.log().LogAttrs(ctx, level, kind+" "+string(became), attrs...)
}

func (r *run) logTexts(ctx context.Context, level slog.Level, message string, about slog.Attr, texts []string) {
	for _, text := range texts {
		r.log().LogAttrs(ctx, level, message, about, slog.String("detail", text))
	}
}

func (r *run) log() *slog.Logger { return r.runner.world.reporter().Logger() }
