package bots

import (
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// Limits bounds how often each of many may ask. Every process counts for itself, and anew after its start. A nil one bounds nothing.
type Limits struct {
	count int
	span  time.Duration
	burst int

	mu   sync.Mutex
	each map[string]*rate.Limiter
}

// maxLimited are remembered at once; then all are forgotten, so that memory stays bounded.
const maxLimited = 10_000

// NewLimits lets each ask count times in a span, and so many times at once as burst says. A count of 0 is any number.
func NewLimits(count int, span time.Duration, burst int) *Limits {
	if count <= 0 {
		return nil
	}
	return &Limits{count: count, span: span, burst: min(burst, count), each: map[string]*rate.Limiter{}}
}

// Wait is 0 when somebody may ask now, which is then counted. Else it tells how long they have to wait.
func (l *Limits) Wait(who string) time.Duration {
	if l == nil {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	limiter := l.each[who]
	if limiter == nil {
		if len(l.each) >= maxLimited {
			clear(l.each)
		}
		limiter = rate.NewLimiter(rate.Limit(float64(l.count)/l.span.Seconds()), l.burst)
		l.each[who] = limiter
	}
	r := limiter.Reserve()
	wait := r.Delay()
	if wait > 0 {
		r.Cancel()
	}
	return wait
}

// Count is how often each may ask, 0 for any number.
func (l *Limits) Count() int {
	if l == nil {
		return 0
	}
	return l.count
}
