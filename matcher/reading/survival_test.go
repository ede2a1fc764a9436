package reading

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
)

// TestSteppers: the steps of 20,000 processes of a source are counted, and of no more.
func TestSteppers(t *testing.T) {
	for others, want := range map[int]bool{19_999: true, 20_000: false} {
		s, number := newSurvival(), 1
		failed := logline.Line{Source: "log", Number: number, Writer: "failed"}
		s.failed(failed)
		progress := func(writer string) {
			number++
			s.progressed(logline.Line{Source: "log", Number: number, Writer: writer})
		}
		for i := range others {
			progress(fmt.Sprint("other ", i))
		}
		for range enoughSteps {
			progress("one more")
		}
		if got := s.wentOn(s.occurrence(failed)); got != want {
			t.Errorf("beside %d others, the steps of one more show that the job went on: %v", others, got)
		}
	}
}

// TestProcesses: the progress of 20,000 processes with events is known; when there are more, that of those before is forgotten.
func TestProcesses(t *testing.T) {
	for others, want := range map[int]bool{19_999: true, 20_000: false} {
		s := newSurvival()
		failed := logline.Line{Source: "log", Number: 1, Writer: "failed"}
		s.failed(failed)
		s.progressed(logline.Line{Source: "log", Number: 2, Writer: "failed"})
		for i := range others {
			s.failed(logline.Line{Source: "log", Number: 3 + i, Writer: fmt.Sprint("other ", i)})
		}
		if got := s.wentOn(s.occurrence(failed)); got != want {
			t.Errorf("beside %d others, it is known that the process went on: %v", others, got)
		}
	}
}

// TestOrder: lines are ordered by source, line and part; of a line with more than 1,023 parts the last ones have one place.
func TestOrder(t *testing.T) {
	s := newSurvival()
	place := func(number, part int) int { return s.order(logline.Line{Number: number, Part: part}) }
	if !(place(1, 0) < place(1, 1) && place(1, 1022) < place(1, 1023) && place(1, 1023) == place(1, 1024) && place(1, 5000) < place(2, 0)) {
		t.Error("parts are out of order")
	}
	last := place(7, 0)
	source := s.in("a")
	source.lines = 7
	s.ended(source)
	if place(1, 0) <= last {
		t.Error("the first line of the next source is before the last of this one")
	}
}

// TestPaced: the pace of 20,000 processes is kept, and of no more.
func TestPaced(t *testing.T) {
	log := "[rank0]: iteration 1/100 loss 2.0\n[rank1]: iteration 1/100 loss 2.0\n"
	for others, want := range map[int]int{19_998: 1, 19_999: 0} {
		r := nothingRead(t)
		r.pace.processes = others
		if err := r.Read(t.Context(), "log", strings.NewReader(strings.Repeat(log, 20))); err != nil {
			t.Fatal(err)
		}
		if got := len(r.Result().Paces); got != want {
			t.Errorf("beside those of %d others, %d paces are kept", others, got)
		}
	}
}
