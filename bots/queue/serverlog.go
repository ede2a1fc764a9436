package queue

import (
	"fmt"
	"log/slog"
)

// serverLog passes on what the embedded NATS server warns of. Errors are of its files, and are told to failed as well.
type serverLog struct {
	log    *slog.Logger
	failed func()
}

func (l serverLog) Warnf(format string, v ...any) {
	l.log.Warn("the store says: " + fmt.Sprintf(format, v...))
}

func (l serverLog) Errorf(format string, v ...any) {
	l.log.Error("the store says: " + fmt.Sprintf(format, v...))
	l.failed()
}

func (l serverLog) Fatalf(format string, v ...any) { l.Errorf(format, v...) }
func (l serverLog) Noticef(string, ...any)         {}
func (l serverLog) Debugf(string, ...any)          {}
func (l serverLog) Tracef(string, ...any)          {}
