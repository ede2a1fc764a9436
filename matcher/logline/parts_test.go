package logline_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/gpu-triage/triage/matcher/logline"
	"github.com/gpu-triage/triage/matcher/logline/loglinetest"
)

// headBytes is how much of a source tells its form, and maxPart the longest part of a line that is kept whole.
const (
	headBytes = 64 << 10
	maxPart   = 64 << 10
)

func texts(t *testing.T, r io.Reader) ([]string, loglinetest.Stats) {
	t.Helper()
	var got []string
	stats, err := loglinetest.ReadLines(r, "x", func(l logline.Line) error { got = append(got, l.Text); return nil })
	if err != nil {
		t.Fatal(err)
	}
	return got, stats
}

func TestReadLines(t *testing.T) {
	for name, test := range map[string]struct {
		in   string
		want []string
	}{
		"empty":           {"", nil},
		"one newline":     {"\n", []string{""}},
		"no newline":      {"a\nb", []string{"a", "b"}},
		"windows":         {"a\r\nb\r\n\r\n", []string{"a", "b", ""}},
		"progress":        {"\r 1%\r 2%\r\nnext", []string{" 1%", " 2%", "next"}},
		"colours":         {"\x1b[1;31mRed\x1b[0m text\x1b[K\x1b(B", []string{"Red text"}},
		"title, link":     {"\x1b]0;title\x07a\x1b]8;;http://x\x1b\\b\x1b]8;;\x1b\\", []string{"ab"}},
		"unfinished code": {"a\x1b[1;3\nb\x1b\nc\x1b]never ends", []string{"a", "b", "cnever ends"}},
		"bare codes":      {"\x5b36m(Worker)\x5b0m x [36m", []string{"(Worker) x"}},
		"not codes":       {"[36m not [12]", []string{"[36m not [12]"}},
		"NUL":             {"\x00\x00a\x00b\x00\x01c", []string{"a\uFFFDb\uFFFDc"}},
		"latin-1":         {"caf\xe9 \xff", []string{"caf\uFFFD \uFFFD"}},
		"tabs stay":       {"\ta\tb \t ", []string{"\ta\tb"}},
		"UTF-8 mark":      {"\xef\xbb\xbfa", []string{"a"}},
		"UTF-8":           {"█ é", []string{"█ é"}},
	} {
		t.Run(name, func(t *testing.T) {
			got, stats := texts(t, strings.NewReader(test.in))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
			lines := int64(strings.Count(test.in, "\n"))
			if test.in != "" && !strings.HasSuffix(test.in, "\n") {
				lines++
			}
			if stats.Lines != lines || stats.Bytes != int64(len(test.in)) || stats.TruncatedLines != 0 {
				t.Errorf("%+v", stats)
			}
			slow, _ := texts(t, iotest.OneByteReader(strings.NewReader(test.in)))
			if diff := cmp.Diff(got, slow); diff != "" {
				t.Errorf("byte by byte:\n%s", diff)
			}
		})
	}
}

func TestReadUTF16(t *testing.T) {
	text := "Traceback\r\nKeyError: 'é█'\n"
	var little, big []byte
	for _, u := range utf16.Encode([]rune("\uFEFF" + text)) {
		little = append(little, byte(u), byte(u>>8))
		big = append(big, byte(u>>8), byte(u))
	}
	for _, in := range [][]byte{little, big, append(little, 'x')} {
		got, _ := texts(t, bytes.NewReader(in))
		if len(got) < 2 || got[0] != "Traceback" || got[1] != "KeyError: 'é█'" {
			t.Errorf("%q", got)
		}
	}
}

func TestReadErrors(t *testing.T) {
	broken := errors.New("broken")
	if _, err := loglinetest.ReadLines(iotest.ErrReader(broken), "x", nil); !errors.Is(err, broken) {
		t.Errorf("reader: %v", err)
	}
	in := io.MultiReader(strings.NewReader("a\n"+strings.Repeat("x", 3*headBytes)), iotest.ErrReader(broken))
	stats, err := loglinetest.ReadLines(in, "x", func(logline.Line) error { return nil })
	if !errors.Is(err, broken) || stats.Lines != 2 {
		t.Errorf("%+v %v", stats, err)
	}
	n := 0
	stats, err = loglinetest.ReadLines(strings.NewReader("a\nb\nc\n"), "x", func(logline.Line) error { n++; return broken })
	if !errors.Is(err, broken) || n != 1 || stats.Lines != 1 {
		t.Errorf("yield: %d %+v %v", n, stats, err)
	}
}

// TestLongLines: a line of many megabytes keeps its head and tail, its \r-separated parts are lines of their own, and reading it
// piece by piece gives what cleaning it whole gives.
func TestLongLines(t *testing.T) {
	blob := strings.Repeat("0123456789", 3<<20/10)
	bars := strings.Repeat(" 50%|###   | 1/2 [00:01<00:01]\r", 20_000)
	in := "first\n" + blob + "THE END\n" + "[rank3]: " + bars + "RuntimeError: last\n" + bars + blob + "\r" + blob + "\nafter"
	var got []logline.Line
	stats, err := loglinetest.ReadLines(strings.NewReader(in), "x", func(l logline.Line) error { got = append(got, l); return nil })
	if err != nil || stats.Lines != 5 || stats.TruncatedLines != 2 || stats.Bytes != int64(len(in)) {
		t.Fatalf("%+v %v", stats, err)
	}
	long := got[1]
	if !long.Truncated || len(long.Text) > maxPart || !strings.HasPrefix(long.Text, "0123456789") || !strings.HasSuffix(long.Text, "THE END") {
		t.Errorf("%d bytes, %v", len(long.Text), long.Truncated)
	}
	if last := got[2+20_000]; last.Text != "RuntimeError: last" || last.Number != 3 || last.Rank != 3 || last.Truncated {
		t.Errorf("%+v", last)
	}
	if end := got[len(got)-1]; end.Text != "after" || end.Number != 5 {
		t.Errorf("%+v", end)
	}
	var whole []logline.Line
	form := logline.Sniff("x", []byte(in[:headBytes]))
	for i, raw := range strings.Split(in, "\n") {
		if _, err := form.Clean(i+1, []byte(raw), func(l logline.Line) error { whole = append(whole, l); return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(whole, got); diff != "" {
		t.Error("cleaned line by line it is something else")
	}
}

// endless is a reader of n bytes that are all the same.
type endless struct{ n int64 }

func (e *endless) Read(p []byte) (int, error) {
	if e.n <= 0 {
		return 0, io.EOF
	}
	n := int(min(int64(len(p)), e.n))
	for i := range n {
		p[i] = 'x'
	}
	e.n -= int64(n)
	return n, nil
}

func TestEndlessLineNeedsLittleMemory(t *testing.T) {
	const size = 64 << 20
	allocated := testing.AllocsPerRun(1, func() {
		stats, err := loglinetest.ReadLines(&endless{size}, "x", func(l logline.Line) error { return nil })
		if err != nil || stats.TruncatedLines != 1 || stats.Bytes != size {
			t.Errorf("%+v %v", stats, err)
		}
	})
	if allocated > 200 {
		t.Errorf("%v allocations for one line", allocated)
	}
}

func FuzzReadLines(f *testing.F) {
	f.Add([]byte("[rank0]: a\r\x1b[31mb\r\n3: c\xff\x00"), uint16(3))
	f.Add([]byte("\xff\xfea\x00\n\x00"), uint16(1))
	f.Add([]byte("2024-05-01T12:00:00Z (W pid=1) [E626 06:24:44.9 P.cpp:6] x\n 0: y\n"), uint16(70))
	f.Fuzz(func(t *testing.T, in []byte, repeat uint16) {
		if repeat%7 == 0 { // long lines
			in = bytes.Repeat(in, int(repeat)%2000+1)
			in = in[:min(len(in), 1<<20)]
		}
		var got []logline.Line
		number := 0
		stats, err := loglinetest.ReadLines(bytes.NewReader(in), "rank_2.log", func(l logline.Line) error {
			if l.Number < number || !utf8.ValidString(l.Text) || len(l.Text) > 3*maxPart || l.Head > len(l.Text) || strings.ContainsAny(l.Text, "\r\n\x00\x1b") {
				t.Fatalf("%d after %d: %+q", l.Number, number, l.Text)
			}
			number = l.Number
			got = append(got, l)
			return nil
		})
		if err != nil || stats.Bytes != int64(len(in)) || int(stats.Lines) != number {
			t.Fatalf("%+v %v, %d lines", stats, err, number)
		}
		_, decoded, err := logline.Decode(bytes.NewReader(in))
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(decoded)
		if err != nil {
			t.Fatal(err)
		}
		var whole []logline.Line
		form := logline.Sniff("rank_2.log", text)
		for i, raw := range bytes.Split(bytes.TrimSuffix(text, []byte("\n")), []byte("\n")) {
			if len(text) > 0 {
				form.Clean(i+1, raw, func(l logline.Line) error { whole = append(whole, l); return nil })
			}
		}
		if diff := cmp.Diff(whole, got); diff != "" {
			t.Fatal(diff)
		}
	})
}
