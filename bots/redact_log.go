package bots

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/gpu-triage/triage/matcher/report"
)

// RedactLog returns a log handler that takes secrets out of everything before it is written.
func RedactLog(to slog.Handler) slog.Handler { return redactingHandler{to} }

type redactingHandler struct{ to slog.Handler }

func (h redactingHandler) Enabled(ctx context.Context, level slog.Level) bool {
	return h.to.Enabled(ctx, level)
}

func (h redactingHandler) Handle(ctx context.Context, record slog.Record) error {
	clean := slog.NewRecord(record.Time, record.Level, report.Redact(record.Message), record.PC)
	record.Attrs(func(a slog.Attr) bool {
		clean.AddAttrs(h.attr(a))
		return true
	})
	return h.to.Handle(ctx, clean)
}

func (h redactingHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	clean := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		clean[i] = h.attr(a)
	}
	return redactingHandler{h.to.WithAttrs(clean)}
}

func (h redactingHandler) WithGroup(name string) slog.Handler {
	return redactingHandler{h.to.WithGroup(name)}
}

func (h redactingHandler) attr(a slog.Attr) slog.Attr {
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
			clean[i] = h.attr(inner)
		}
		a.Value = slog.GroupValue(clean...)
	}
	return a
}
