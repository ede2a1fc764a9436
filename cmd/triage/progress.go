package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows on a terminal how far the reading of a long log is.
type progress struct {
	out   io.Writer // nil when nobody looks
	total int64     // bytes, 0 when it cannot be known
	done  int64     // of the logs before this one
	start time.Time
	next  time.Time
	shown bool
}

// Nothing is shown of work that is soon done.
const (
	progressFrom  = time.Second
	progressEvery = 200 * time.Millisecond
)

// newProgress prepares to show the progress of reading the paths.
func newProgress(std streams, paths []string) *progress {
	p := &progress{start: time.Now()}
	p.next = p.start.Add(progressFrom)
	if _, ok := terminal(std.err); ok {
		p.out = std.err
	}
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return p // it will be told when the log is read
		}
		for _, file := range files {
			info, err := os.Stat(file)
			if err != nil { // standard input
				p.total = 0
				return p
			}
			p.total += info.Size()
		}
	}
	return p
}

// at notes that so many bytes of the present log have been read.
func (p *progress) at(bytes int64) {
	now := time.Now()
	if p.out == nil || now.Before(p.next) {
		return
	}
	p.next, p.shown = now.Add(progressEvery), true
	bytes += p.done
	rate := float64(bytes) / now.Sub(p.start).Seconds()
	fmt.Fprintf(p.out, "\r\x1b[K%.1f", float64(bytes)/1e9)
	if p.total >= bytes {
		fmt.Fprintf(p.out, " of %.1f GB, %.0f MB/s, %.0f s left", float64(p.total)/1e9, rate/1e6, float64(p.total-bytes)/rate)
		return
	}
	fmt.Fprintf(p.out, " GB, %.0f MB/s", rate/1e6)
}

// log notes that a log of so many bytes is done.
func (p *progress) log(bytes int64) { p.done += bytes }

// end takes away what was shown.
func (p *progress) end() {
	if p.shown {
		fmt.Fprint(p.out, "\r\x1b[K")
	}
}
