package logline_test

import (
	"bytes"
	"testing"

	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
	"github.com/gpu-triage/triage/matcher/traceback"
)

// logOf is a log of megabytes in the forms that training logs have.
func logOf(form string, size int) []byte {
	lines := map[string]string{
		"plain":  " iteration        1/ 500000 | consumed samples:            8 | elapsed time per iteration (ms): 1085.6 | lm loss: 1.120000E+01 | loss scale: 1.0 |\n",
		"ranks":  "[rank3]: {'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 3e-4, 'epoch': 0.21} and then some more words up to one hundred\n",
		"stamps": "[2024-09-11 17:52:18,030] [INFO] [loss_scaler.py:183:update_scale] [deepspeed] OVERFLOW! Rank 0 Skipping step. Attempted loss scale: 65536\n",
		"bars":   " 50%|█████     | 5/10 [00:01<00:01,  4.95it/s, loss=2.31]\r 60%|██████    | 6/10 [00:01<00:00,  4.95it/s, loss=2.30]\r\x1b[A\n",
	}
	return bytes.Repeat([]byte(lines[form]), size/len(lines[form]))
}

func BenchmarkReadLines(b *testing.B) {
	for _, form := range []string{"plain", "ranks", "stamps", "bars"} {
		log := logOf(form, 8<<20)
		b.Run(form, func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			b.ReportAllocs()
			for b.Loop() {
				loglinetest.ReadLines(bytes.NewReader(log), "x", func(logline.Line) error { return nil })
			}
		})
		b.Run(form+"/assembled", func(b *testing.B) {
			b.SetBytes(int64(len(log)))
			for b.Loop() {
				a := traceback.NewAssembler(func(*traceback.Exception, logline.Line) {}, nil)
				loglinetest.ReadLines(bytes.NewReader(log), "x", func(l logline.Line) error { a.Feed(l); return nil })
			}
		})
	}
}
