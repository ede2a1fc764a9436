package supervise

import (
	"os"
	"os/signal"
	"sync"
)

// relay passes the signals that this process gets on to the command.
type relay struct {
	signals chan os.Signal
	streams []*stream
	mutex   sync.Mutex
	asked   bool
}

// newRelay begins to catch signals. Those that are ignored, as with nohup, stay so.
func newRelay(streams []*stream) *relay {
	r := &relay{signals: make(chan os.Signal, 16), streams: streams}
	for _, s := range caught {
		if !signal.Ignored(s) {
			signal.Notify(r.signals, s)
		}
	}
	return r
}

func (r *relay) stop() {
	signal.Stop(r.signals) // nothing is sent after it
	close(r.signals)
}

// to names the receiver.
func (r *relay) to(process *os.Process) {
	go func() {
		for s := range r.signals {
			r.pass(s, process)
		}
	}()
}

// ask notes that a signal asked this process to end.
func (r *relay) ask() {
	r.mutex.Lock()
	r.asked = true
	r.mutex.Unlock()
}

func (r *relay) interrupted() bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return r.asked
}
