package fit

import "testing"

const log = `
Traceback (most recent call last):
  File "/workspace/train.py", line 3, in <module>
    main()
RuntimeError: CUDA error: no kernel image is available for execution on the device
`

func TestLog(t *testing.T) {
	if first(log) != "image" {
		t.Error("not found")
	}
}
