package traceback

import "testing"

// TestExceptionModule: a class of a module of exceptions is believed without a traceback above it, and a class of another module, or a
// sentence with such a name in it, is not.
func TestExceptionModule(t *testing.T) {
	for line, want := range map[string]string{
		"omegaconf.errors.MissingMandatoryValue: Missing mandatory value: task": "omegaconf.errors.MissingMandatoryValue",
		"google.api_core.exceptions.NotFound: 404 no such bucket":               "google.api_core.exceptions.NotFound",
		"omegaconf.nodes.AnyNode: Missing mandatory value: task":                "",
		"errors.log: 3 lines": "",
		"see omegaconf.errors.MissingMandatoryValue: Missing mandatory value: task":     "",
		"my_errors.omegaconf.MissingMandatoryValue: Missing mandatory value: task name": "",
	} {
		exceptions, _ := read(t, "x.log", line+"\n")
		got := ""
		if len(exceptions) > 0 {
			got = exceptions[0].Type
		}
		if got != want {
			t.Errorf("%s: its type is %q and not %q", line, got, want)
		}
	}
}

// TestNotebookType: a notebook's header names an exception of any name, also one that does not end in Error.
func TestNotebookType(t *testing.T) {
	const cell = "\n<ipython-input-8-0f> in <module>()\n---> 29 fit(rows)\n\nArrowInvalid: only one dimension\n"
	exceptions, _ := read(t, "x.log", "ArrowInvalid                              Traceback (most recent call last)\n"+cell)
	if len(exceptions) != 1 || exceptions[0].Type != "ArrowInvalid" || len(exceptions[0].Frames) != 1 {
		t.Errorf("it is read as\n%s", outline(exceptions, ""))
	}
}

// TestCarried: an exception that is named for the traceback that it carries is the one that it names.
func TestCarried(t *testing.T) {
	for text, want := range map[string]string{
		"jax._src.traceback_util.UnfilteredStackTrace: jax._src.errors.ShapeError: too few": "jax._src.errors.ShapeError: too few",
		"jax._src.traceback_util.UnfilteredStackTrace: ValueError: too few":                 "ValueError: too few",
		"pkg.UnfilteredStackTrace: it was long":                                             "pkg.UnfilteredStackTrace: it was long",
		"OSError:no water":                                                                  "OSError: no water", // as people type it
	} {
		if typ, msg, ok := parseType(text); !ok || typ+": "+msg != want {
			t.Errorf("%q is read as %q: %q", text, typ, msg)
		}
	}
}
