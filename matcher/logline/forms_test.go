package logline

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher/scan"
	"github.com/gpu-triage/triage/rules/wrapper"
)

// TestFormsFitTheirExamples tries each row of the tables on its own example: it must be the row that takes it, and leave the text.
func TestFormsFitTheirExamples(t *testing.T) {
	for _, form := range forms().marks {
		p := prefixes{rank: NoRank, local: NoRank, rest: form.Example}
		expression := form.expression()
		m := expression.FindStringSubmatchIndex(form.Example)
		if m == nil || !p.take(form, expression, m) || !p.found {
			t.Errorf("%s: %q is not taken", form.Tool, form.Example)
			continue
		}
		if form.Next == "" && p.rest != "text" {
			t.Errorf("%s: %q leaves %q", form.Tool, form.Example, p.rest)
		}
		if got := one(t, form.Example); got.Text != "text" {
			t.Errorf("%s: the text of %q is %q", form.Tool, form.Example, got.Text)
		}
	}
	for i := range labelForms {
		form := &labelForms[i]
		label, got, n := labelIn(form.example)
		if n == 0 || got != i || form.example[n:] != "text" {
			t.Errorf("%s: %q has the label %q of form %d, and then %q", form.tool, form.example, label, got, form.example[n:])
		}
		if source := Sniff("x", []byte(strings.Repeat(form.example+"\n", 20))); source.labels.form != form {
			t.Errorf("%s: 20 lines like %q are not believed", form.tool, form.example)
		}
	}
	for _, form := range forms().records {
		if n, level, time := form.match(form.Example); n == 0 || form.Example[n:] != "text" || levelOf(level) == "" && time == "" {
			t.Errorf("%s: %q has a header of %d bytes with %q and %q", form.Tool, form.Example, n, level, time)
		}
		if got := one(t, form.Example); got.Body() != "text" || got.Level == "" {
			t.Errorf("%s: the text of %q is %q", form.Tool, form.Example, got.Body())
		}
	}
}

// TestFormsAreNotRefused: the first look at a line lets through all that the expression of a form matches.
func TestFormsAreNotRefused(t *testing.T) {
	rnd := rand.New(rand.NewPCG(7, 1))
	changed := func(text string) string {
		b := []byte(text)
		for range rnd.IntN(4) {
			b[rnd.IntN(len(b))] = "0179aAdeErRw [](){}<>|:#=-_.,@"[rnd.IntN(30)]
		}
		return string(b)
	}
	matched := 0
	for _, form := range forms().marks {
		for range 5000 {
			text := changed(form.Example)
			prefix := form.expression().FindString(text)
			if prefix == "" || !strings.HasPrefix(text[len(prefix):], form.Next) {
				continue
			}
			matched++
			bracket := strings.IndexByte("[(#<", text[0]) >= 0
			if !form.Possible(text) || !bracket && !mayBeginWithWord(text) {
				t.Fatalf("%s: %q matches and is refused", form.Tool, text)
			}
		}
	}
	for _, form := range forms().records {
		whole := recordExpressionOf(strings.Replace(form.Source, wrapper.Time, "(?P<time>"+wrapper.Stamp+")", 1))
		for range 5000 {
			text := changed(form.Example)
			m := whole.FindString(text)
			if m != "" {
				matched++
			}
			n := 0
			if form.Possible(text) {
				n, _, _ = form.match(text)
			}
			if n != len(m) {
				t.Fatalf("%s: the header of %q has %d bytes, not %d", form.Tool, text, len(m), n)
			}
		}
	}
	if matched < 20_000 {
		t.Errorf("only %d texts matched", matched)
	}
}

// TestRawForms: a word of the text stands in the raw line in one of its forms, or the line says that it may hide words.
func TestRawForms(t *testing.T) {
	const word = "a \"quoted\" <path>\tC:\\x & more"
	for _, raw := range []string{
		"[rank1]: " + word,
		`{"log":"` + dockerQuotes.Replace(word) + `\n","time":"2024-05-01T12:00:00.5Z"}`,
		`{"log":"` + otherQuotes.Replace(word) + `\n","time":"2024-05-01T12:00:00.5Z"}`,
	} {
		found := false
		for _, l := range RawForms([]scan.Literal{{Text: word}}) {
			found = found || strings.Contains(raw, l.Text)
		}
		if got := one(t, raw).Text; got != word || !found {
			t.Errorf("%q: the text is %q; found: %v", raw, got, found)
		}
	}
	for raw, want := range map[string]bool{"a \x1b[1mword\x1b[0m": true, `{"log":"a\n"}`: true, `x {"log":"a\n"}`: true, "x {log}": false, "plain": false} {
		if got := HidesWords(raw); got != want {
			t.Errorf("HidesWords(%q) = %v", raw, got)
		}
	}
	for raw, want := range map[string]bool{
		"[1,15]<stdout>:a[1,15]<stdout>:b": true, "[n@1,15]<stderr>: a": true, "[rank1]: a": false, `{"log":"a \" \\ \n\t\u003c"}`: false, `{"log":"a\u0031"}`: true,
		`{"log":"\rb"}`: true, `x {"log":"\rb"}`: true, "x {}": false,
	} {
		if got := MayJoin([]byte(raw)); got != want {
			t.Errorf("MayJoin(%q) = %v", raw, got)
		}
	}
}

func TestWording(t *testing.T) {
	for text, want := range map[string]string{
		"": "", "step 10 of 2000": "step # of #", "at 0x7fa0 in f": "at # in f", "0x": "#x", "bf16 1.5e-3": "bf# #.#e-#", "10": "#", "0xg": "#xg",
	} {
		if got := MaskNumbers(text); got != want {
			t.Errorf("MaskNumbers(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestTimeIn(t *testing.T) {
	for text, want := range map[string]string{
		"slurmstepd: error: *** JOB 1 ON n1 CANCELLED AT 2024-05-01T12:00:00 ***": "2024-05-01 12:00:00",
		"step 3 12-29 15:21:11 loss":    "0000-12-29 15:21:11",
		"elapsed 1:02:03 of 2024-05-01": "0001-01-01 00:00:00",
		"a: b: c":                       "0001-01-01 00:00:00",
	} {
		if got := TimeIn(text).Format("2006-01-02 15:04:05"); got != want {
			t.Errorf("TimeIn(%q) = %s, want %s", text, got, want)
		}
	}
}

// TestLimits: what is at a limit is read as what it is, and what is one beyond is not.
func TestLimits(t *testing.T) {
	x := func(n int) string { return strings.Repeat("x", n) }
	for _, test := range []struct{ name, raw, writer, text string }{
		{"6 prefixes", strings.Repeat("[rank1]:", 6) + "x", "rank1", "x"},
		{"7 prefixes", strings.Repeat("[rank1]:", 7) + "x", "rank1", "[rank1]:x"},
		{"a prefix of 300 bytes", "(W pid=1, a=" + x(287) + ") x", "W pid=1, a=" + x(287), " x"},
		{"a prefix of 301 bytes", "(W pid=1, a=" + x(288) + ") x", "", "(W pid=1, a=" + x(288) + ") x"},
		{"a word of 79 bytes", x(77) + "-1  | y", x(77) + "-1", "y"},
		{"a word of 80 bytes", x(78) + "-1  | y", "", x(78) + "-1  | y"},
		{"rank 9999999", "(W rank=9999999 pid=1) x", "rank9999999", "x"},
		{"rank 10000000", "(W rank=10000000 pid=1) x", "W rank=10000000 pid=1", "x"},
		{"a process of 100 bytes", x(90) + ":1:1 [10] y", x(90) + ":1", x(90) + ":1:1 [10] y"},
		{"a process of 101 bytes", x(91) + ":1:1 [10] y", "", x(91) + ":1:1 [10] y"},
		{"120 bytes before a rank", "[PG " + x(120) + " Rank 5] y", "rank5", "[PG " + x(120) + " Rank 5] y"},
		{"121 bytes before a rank", "[PG " + x(121) + " Rank 5] y", "", "[PG " + x(121) + " Rank 5] y"},
	} {
		if got := one(t, test.raw); got.Writer != test.writer || got.Text != test.text {
			t.Errorf("%s: got %q %q", test.name, got.Writer, got.Text)
		}
	}
	for raw, want := range map[string]Level{"INFO: xy": Info, "INFO: x": "", "ERROR 12-29 15:21:11 [" + x(120) + "] y": Error, "ERROR 12-29 15:21:11 [" + x(121) + "] y": ""} {
		if got := one(t, raw).Level; got != want {
			t.Errorf("%.30q has the level %q, want %q", raw, got, want)
		}
	}
	for code, want := range map[string]string{"[" + strings.Repeat("1", 18) + "m": "", "[" + strings.Repeat("1", 19) + "m": "[" + strings.Repeat("1", 19) + "m"} {
		if got := withoutBareCodes(code + "x[0m"); got != want+"x" {
			t.Errorf("a colour code of %d bytes leaves %q", len(code), got)
		}
	}
	for size, want := range map[int]bool{64 << 10: false, 64<<10 + 1: true} {
		if got := Sniff("x", []byte(x(size-3)+"[0m")).Searchable(); got != want {
			t.Errorf("a colour code that ends after %d bytes: %v", size, got)
		}
	}
	for size, want := range map[int]bool{64 << 10: false, 64<<10 + 1: true} {
		var got Line
		cut, _ := Sniff("x", nil).Clean(1, []byte(x(size)), func(l Line) error { got = l; return nil })
		if cut != want || got.Truncated != want || len(got.Text) > 64<<10 {
			t.Errorf("a part of %d bytes: cut %v, %d bytes are left", size, cut, len(got.Text))
		}
	}
}

// TestLabelLimits: how many lines must have labels before they are believed.
func TestLabelLimits(t *testing.T) {
	labelled := func(format string, n, different int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, format, i%different)
		}
		return b.String()
	}
	other := func(n int) string { return strings.Repeat("step\n", n) }
	const task, host = "%d: x\n", "node-%d: x\n"
	for _, test := range []struct {
		name, log string
		want      bool
	}{
		{"8 lines", labelled(task, 8, 2), true},
		{"7 lines", labelled(task, 7, 2), false},
		{"half of the lines", labelled(task, 10, 2) + other(10), true},
		{"less than half", labelled(task, 10, 2) + other(11), false},
		{"each label twice", labelled(task, 20, 10), true},
		{"not each twice", labelled(task, 20, 11), false},
		{"hosts on 9 lines of 10", labelled(host, 18, 2) + other(2), true},
		{"hosts on 17 lines of 19", labelled(host, 17, 2) + other(2), false},
		{"half of the first 2000", other(1000) + labelled(task, 1000, 2) + other(1000), true},
		{"6 spaces", labelled("      %d: x\n", 20, 2), true},
		{"7 spaces", labelled("       %d: x\n", 20, 2) + other(1), false},
		{"6 digits", labelled("00000%d: x\n", 20, 2), true},
		{"7 digits", labelled("000000%d: x\n", 20, 2), false},
		{"a host of 64 bytes", labelled(strings.Repeat("n", 63)+"%d: x\n", 20, 2), true},
		{"a host of 65 bytes", labelled(strings.Repeat("n", 64)+"%d: x\n", 20, 2), false},
	} {
		if got := Sniff("x.log", []byte(test.log)).labels.form != nil; got != test.want {
			t.Errorf("%s: believed: %v", test.name, got)
		}
	}
}
