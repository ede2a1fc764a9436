package bots

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gpu-triage/triage/matcher/report"
)

// Quiet returns a log handler that takes secrets out of everything before it is written.
func Quiet(to slog.Handler) slog.Handler { return quiet{to} }

type quiet struct{ to slog.Handler }

func (q quiet) Enabled(ctx context.Context, level slog.Level) bool { return q.to.Enabled(ctx, level) }

func (q quiet) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, report.Redact(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(q.attr(a))
		return true
	})
	return q.to.Handle(ctx, clean)
}

func (q quiet) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = q.attr(a)
	}
	return quiet{q.to.WithAttrs(clean)}
}

func (q quiet) WithGroup(name string) slog.Handler { return quiet{q.to.WithGroup(name)} }

func (q quiet) attr(a slog.Attr) slog.Attr {
	a.Value = a.Value.Resolve()
	switch a.Value.Kind() {
	case slog.KindString:
		a.Value = slog.StringValue(report.Redact(a.Value.String()))
	case slog.KindAny:
		a.Value = slog.StringValue(report.Redact(fmt.Sprint(a.Value.Any())))
	case slog.KindGroup:
		group := a.Value.Group()
		clean := make([]slog.Attr, len(group))
		for i, inner := range group {
			clean[i] = q.attr(inner)
		}
		a.Value = slog.GroupValue(clean...)
	}
	return a
}
