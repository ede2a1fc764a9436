package traceback

import "testing"

func TestPackage(t *testing.T) {
	for file, want := range map[string]string{
		"/home/u/train.py": "",
		"/opt/venv/lib/python3.11/site-packages/transformers/trainer.py":                             "transformers",
		`C:\Users\u\venv\Lib\site-packages\peft\peft_model.py`:                                       "peft",
		"/usr/lib/python3/dist-packages/torch/nn/modules/module.py":                                  "torch",
		"/opt/venv/lib/python3.11/site-packages/six.py":                                              "six",
		"/opt/venv/lib/python3.11/site-packages/_cffi_backend.cpython-311-x86_64-linux-gnu.so":       "_cffi_backend",
		"/opt/venv/lib/python3.8/site-packages/apex-0.1-py3.8-linux-x86_64.egg/apex/amp/frontend.py": "apex",
		"/usr/lib/python3.10/importlib/__init__.py":                                                  StandardLibrary,
		"<frozen importlib._bootstrap>":                                                              StandardLibrary,
		"/tmp/torchinductor_root/ab/cab.py":                                                          "torch",
		"/srv/unsloth_compiled_cache/UnslothSFTTrainer.py":                                           "unsloth",
		"/home/u/.cache/huggingface/modules/transformers_modules/org/model/modeling_x.py":            "transformers_modules",
		"/home/u/.local/lib/python3.10/site-packages/nvidia/dali/pipeline.py":                        "nvidia",
	} {
		if got := (Frame{File: file}).Package(); got != want {
			t.Errorf("%s is of %q, not %q", file, got, want)
		}
	}
}

func TestAsker(t *testing.T) {
	tell := Frame{File: "/v/site-packages/torch/nn/modules/module.py", Function: "__getattr__"}
	for _, c := range []struct{ file, want string }{{"/home/u/train.py", ""}, {"/v/site-packages/torch/nn/modules/upsampling.py", "torch"}} {
		e := Exception{Frames: []Frame{{File: "/home/u/train.py"}, {File: c.file, Function: "forward"}, tell}}
		if got := e.Asker(); got != c.want {
			t.Errorf("%s asks, and the asker is %q", c.file, got)
		}
	}
}

func TestOwners(t *testing.T) {
	user, std := "/home/u/train.py", "/usr/lib/python3.11/copy.py"
	peft, torch := "/v/site-packages/peft/model.py", "/v/site-packages/torch/nn/module.py"
	for _, c := range []struct {
		files         []string
		owner, caller string
	}{
		{nil, "", ""},
		{[]string{user}, "", ""},
		{[]string{user, peft, torch}, "torch", "peft"},
		{[]string{user, peft, torch, std}, "torch", "peft"},
		{[]string{torch, user, peft, peft}, "peft", ""},
		{[]string{peft, std, user}, "", "peft"},
		{[]string{std}, "", ""},
	} {
		var e Exception
		for _, file := range c.files {
			e.Frames = append(e.Frames, Frame{File: file})
		}
		if e.Owner() != c.owner || e.Caller() != c.caller {
			t.Errorf("%v: %q called by %q, not %q by %q", c.files, e.Owner(), e.Caller(), c.owner, c.caller)
		}
	}
}
