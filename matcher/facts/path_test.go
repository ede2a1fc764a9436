package facts_test

import "testing"

// The files that a traceback names tell which Python runs, and weigh less than a line that says so.
func TestPythonOfFiles(t *testing.T) {
	traceback := func(file string) string {
		return "Traceback (most recent call last):\n  File \"" + file + "\", line 3, in work\n    work()\nValueError: no\n"
	}
	for text, want := range map[string]string{
		traceback("/opt/conda/lib/python3.8/site-packages/pack/core.py"):                           "3.8",
		traceback(`C:\Users\me\AppData\Local\Programs\Python\Python310\lib\site-packages\core.py`): "3.10",
		traceback(`C:\Python38-32\lib\json\decoder.py`):                                            "3.8",
		traceback("/home/me/python3.8.py"):                                                         "",
		traceback("/home/me/python/300/train.py"):                                                  "",
		"Python version: 3.8.10 (64-bit runtime)\n" + traceback("/usr/lib/python3.9/json/core.py"): "3.8.10",
		"ImportError: cannot import name 'Literal' from 'typing' (/usr/lib/python3.7/typing.py)\n": "3.7",
	} {
		values, _ := stated(t, text)
		if values["python"] != want {
			t.Errorf("python is %q, want %q, by %s", values["python"], want, text)
		}
	}
}
