// Command triage reads the logs of a training job and says why it failed and what to do about it.
package main

import (
	"context"
	"os"
	"os/signal"
	"slices"
	"syscall"
)

func main() {
	ctx, stop := untilAsked()
	status := run(ctx, os.Args[1:], streams{in: os.Stdin, out: os.Stdout, err: os.Stderr, env: os.Getenv})
	stop()
	os.Exit(status)
}

// untilAsked is a context that ends when the program is asked to. Signals that are ignored, as in a shell's background, stay so,
// for the command that triage run runs too.
func untilAsked() (context.Context, context.CancelFunc) {
	signals := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM}, signal.Ignored)
	if len(signals) == 0 { // NotifyContext would take that for all
		return context.WithCancel(context.Background())
	}
	return signal.NotifyContext(context.Background(), signals...)
}
