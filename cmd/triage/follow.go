package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
)

// How often a followed log is looked at, and after how long a silence what stands in it is taken for complete.
const (
	followEvery = 200 * time.Millisecond
	followQuiet = time.Second
)

// follow reads a log while it grows, and shows the answer whenever there is a new one. It ends with ctx: with the exit status of
// what was diagnosed until then. A log that becomes shorter was begun anew.
func follow(ctx context.Context, name string, reading *matcher.Job, answer func() report.Report, show func(report.Report) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	tail := reading.Tail(sourceName(name))
	defer tail.Close()
	var said string
	var last report.Report
	speak := func() error {
		tail.Settle()
		last = answer()
		if now := gist(last); now != said {
			said = now
			return show(last)
		}
		return nil
	}
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	silent := time.Duration(0)
	for {
		n, err := added(file, tail)
		switch {
		case err != nil:
			return err
		case n > 0:
			silent = 0
		default:
			silent += followEvery
			if silent-followEvery < followQuiet && silent >= followQuiet {
				if err := speak(); err != nil {
					return err
				}
			}
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err := speak(); err != nil {
				return err
			}
			return statusOf(&last)
		}
	}
}

// added hands on what was added to the file.
func added(file *os.File, to io.Writer) (int64, error) {
	at, err := file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, err
	}
	info, err := file.Stat()
	if err != nil {
		return 0, err
	}
	if !info.Mode().IsRegular() {
		return 0, errors.New("only a file can be followed; a pipe is read as it comes: triage < PIPE")
	}
	if info.Size() < at {
		if _, err := file.Seek(0, io.SeekStart); err != nil {
			return 0, err
		}
	}
	return io.CopyBuffer(struct{ io.Writer }{to}, struct{ io.Reader }{file}, make([]byte, 256<<10))
}

// gist is what makes an answer new: another diagnosis, or the same of something else.
func gist(report report.Report) string {
	all := ""
	for _, d := range report.Diagnoses {
		all += fmt.Sprintln(d.ID, d.Certainty, d.Evidence[0].Source, d.Evidence[0].Line)
	}
	return all
}
