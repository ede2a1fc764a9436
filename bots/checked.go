package bots

import (
	"fmt"
	"net/http"
	"time"
)

// Checked is what a service said at the start of the credentials for it.
type Checked struct {
	Wrong    error    // it refuses them for good: the words say what to do
	Warnings []string // what will not work, and what could not be checked
}

// skewed is how far our clock may be off: GitHub takes a minute, Slack five.
const skewed = time.Minute

// Clock compares our clock with that of a service, by its answer.
func (c *Checked) Clock(service string, response *http.Response) {
	theirs, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return
	}
	off := time.Since(theirs).Round(time.Second)
	if off.Abs() <= skewed {
		return
	}
	way := "ahead of"
	if off < 0 {
		way = "behind"
	}
	c.Warnings = append(c.Warnings, fmt.Sprintf("this machine's clock is %v %s %s's: set it, as with NTP (timedatectl set-ntp true); signatures and tokens are good for minutes only", off.Abs(), way, service))
}
