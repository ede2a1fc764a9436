package traceback

import "testing"

// TestJoined: a traceback whose line breaks were lost is read with all its frames, and with what it followed.
func TestJoined(t *testing.T) {
	exceptions, _ := read(t, "x.log", "Traceback (most recent call last):   File \"a.py\", line 3, in f     g()   File \"b.py\", line 4, in <module>     raise KeyError(key) KeyError: 'x'"+
		"  During handling of the above exception, another exception occurred:  Traceback (most recent call last):   File \"c.py\", line 5, in h     i(\"a b\") ValueError: no such key\n")
	if len(exceptions) != 1 || exceptions[0].Earlier == nil {
		t.Fatalf("found are %s", outline(exceptions, ""))
	}
	last, first := exceptions[0], exceptions[0].Earlier
	if last.Type != "ValueError" || last.Message != "no such key" || len(last.Frames) != 1 || last.Frames[0].Code != `i("a b")` {
		t.Errorf("the last is %+v", last)
	}
	if first.Type != "KeyError" || first.Message != "'x'" || len(first.Frames) != 2 || first.Frames[1].Function != "<module>" {
		t.Errorf("the first is %+v", first)
	}
}
