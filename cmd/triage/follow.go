package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"time"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/pace"
	"github.com/gpu-triage/triage/matcher/reading"
	"github.com/gpu-triage/triage/matcher/report"
)

// How often a followed log is looked at, and after how long a silence what stands in it is taken for complete.
const (
	followEvery = 200 * time.Millisecond
	followQuiet = time.Second
)

// follower reads a log while it grows, and shows the answer whenever there is a new one.
type follower struct {
	name   string
	job    *matcher.Job
	watch  *pace.Watch
	limit  stallFlag
	answer func() report.Report
	show   func(report.Report) error
	stands func(pace.Standstill) (report.Report, error) // says that the job stands still
	waits  func()                                       // says that there is no such file yet

	last report.Report // that was shown, or the last that names nothing
	said string        // the gist of that
	told time.Time     // since when the job stood still that was told last

	file   *os.File // nil as long as there is none
	tail   *reading.Tail
	output io.Writer
	silent time.Duration // since something was added
}

// follow ends with ctx: with the exit status of what was diagnosed until then. A log that does not exist yet is waited for. One that becomes
// shorter was begun anew, and so was one whose name another file has now.
func (f *follower) follow(ctx context.Context) error {
	defer f.leave()
	f.output = f.watch.Output(sourceName(f.name))
	tick := time.NewTicker(followEvery)
	defer tick.Stop()
	for {
		n, err := f.added()
		if err != nil {
			return err
		}
		if f.silent += followEvery; n > 0 {
			f.silent = 0
		}
		if f.silent-followEvery < followQuiet && f.silent >= followQuiet {
			err = f.speak()
		}
		if err := errors.Join(err, f.look(time.Now())); err != nil {
			return err
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			if err := f.speak(); err != nil {
				return err
			}
			return statusOf(&f.last)
		}
	}
}

// speak shows the answer if it is a new one. That a job seems to have gone on after a failure that was shown is no new answer.
func (f *follower) speak() error {
	if f.tail == nil {
		return nil
	}
	f.tail.Settle()
	answer := f.answer()
	now := gist(answer)
	if now == "" && len(f.last.Diagnoses) > 0 {
		return nil
	}
	f.last = answer
	if now == f.said {
		return nil
	}
	f.said = now
	return f.show(answer)
}

// look says it when the job stands still.
func (f *follower) look(now time.Time) error {
	f.watch.Look(now)
	limit, off, err := f.limit.limit()
	still := f.watch.Still(now, limit)
	if err != nil || off || still.Wait == 0 || still.Since.Equal(f.told) || f.said != "" { // a failure that was shown explains it
		return err
	}
	f.told = still.Since
	f.last, err = f.stands(still)
	return err
}

// added hands on what was added to the log.
func (f *follower) added() (int64, error) {
	if f.file == nil {
		return 0, f.open()
	}
	n, err := f.copy()
	if n > 0 || err != nil {
		return n, err
	}
	now, err := os.Stat(f.name)
	open, openErr := f.file.Stat()
	if err != nil || openErr != nil { // it was moved away, and may come again
		return 0, nil
	}
	at, err := f.file.Seek(0, io.SeekCurrent)
	if os.SameFile(now, open) && now.Size() >= at {
		return 0, err
	}
	f.leave()
	return 0, f.open()
}

// copy hands on what stands behind the place that was read last.
func (f *follower) copy() (int64, error) {
	to := struct{ io.Writer }{io.MultiWriter(f.tail, f.output)}
	return io.CopyBuffer(to, struct{ io.Reader }{f.file}, make([]byte, 256<<10))
}

// open opens the log if there is one.
func (f *follower) open() error {
	file, err := os.Open(f.name)
	if errors.Is(err, fs.ErrNotExist) {
		if f.waits != nil {
			f.waits()
			f.waits = nil
		}
		return nil
	}
	if err != nil {
		return err
	}
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		file.Close()
		return errors.Join(err, errors.New("only a file can be followed; a pipe is read as it comes: triage < PIPE"))
	}
	f.file, f.tail, f.silent = file, f.job.Tail(sourceName(f.name)), 0
	return f.begin()
}

// begin hands on what stands in the log at first: it came when the file was written last, and not now.
func (f *follower) begin() error {
	info, err := f.file.Stat()
	if err != nil {
		return err
	}
	if _, err = f.copy(); err == nil {
		f.watch.Look(info.ModTime())
	}
	return err
}

// leave ends the log that is open.
func (f *follower) leave() {
	if f.file != nil {
		f.tail.Close()
		f.file.Close()
		f.file = nil
	}
}

// gist is what makes an answer new: another diagnosis, or the same of something else.
func gist(report report.Report) string {
	all := ""
	for _, d := range report.Diagnoses {
		all += fmt.Sprintln(d.ID, d.Certainty, d.Evidence[0].Source, d.Evidence[0].Line)
	}
	return all
}
