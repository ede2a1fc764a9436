package diagnosis_test

import (
	"context"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

func answerTo(t *testing.T, post string) report.Report {
	t.Helper()
	base, err := rules.Open()
	if err != nil {
		t.Fatal(err)
	}
	job := matcher.New(base).Begin()
	if err := job.Read(context.Background(), "post.md", strings.NewReader(post)); err != nil {
		t.Fatal(err)
	}
	return job.Report()
}

const kettle = "\n```\nTraceback (most recent call last):\n  File \"/home/ana/tea.py\", line 4, in <module>\n    kettle.boil()\nRuntimeError: the kettle is in a state that should not be\n```\n"

// TestFirstFixOfPost: what the author says that works comes first, and the answer is never confirmed.
func TestFirstFixOfPost(t *testing.T) {
	for _, c := range []struct{ post, certainty, do, run string }{
		{"Hi, all was fine until I updated to wandb version 0.12.2. Now:" + kettle, "likely", "before 0.12.2", "pip install 'wandb<0.12.2'"},
		{"I need help. It works with torch 2.4.1 but not with 2.5.0:" + kettle, "likely", "Take torch 2.4.1", "pip install torch==2.4.1"},
		{"My kettle fails with pipelines. It works with tp=2/pp=1, but it fails with tp=2/pp=2:" + kettle, "unexplained", `"pp=1"`, ""},
		{"I ran the example with the following changes:\n\nkettle.lid.enable_slicing()\n" + kettle, "unexplained", "kettle.lid.enable_slicing()", ""},
		{"I want tea, and get this. It only happens when the lid is on." + kettle, "unexplained", "when the lid is on", ""},
		{"I see no error, it stands there.\n\nRolling back deepspeed to 0.14.4 helps.\n", "likely", "Take deepspeed 0.14.4", "pip install deepspeed==0.14.4"},
	} {
		answer := answerTo(t, c.post)
		if len(answer.Diagnoses) == 0 || len(answer.Diagnoses[0].Fixes) == 0 {
			t.Errorf("%q: there is no fix", c.post)
			continue
		}
		d := answer.Diagnoses[0]
		if got := d.Fixes[0]; string(d.Certainty) != c.certainty || !strings.Contains(got.Do, c.do) || c.run != "" && strings.Join(got.Run, " ") != c.run {
			t.Errorf("%q is %s, and first %q %q", c.post, d.Certainty, got.Do, got.Run)
		}
	}
}

// TestSilentPost: who tells of releases without asking about a failure gets no answer.
func TestSilentPost(t *testing.T) {
	for _, post := range []string{
		"step 1 loss 2.31\nstep 2 loss 2.17\nINFO: works with torch 2.4.1 but not with 2.5.0\n",
		"## 1.4.2\n\n- Fixed a regression in datasets 3.2.0\n- Downgrading numpy to 1.26.4 helps with old pickles\n",
	} {
		if d := answerTo(t, post).Diagnoses; len(d) > 0 {
			t.Errorf("%q is answered by %s", post, d[0].ID)
		}
	}
}

// TestTriedInVain: no fix is proposed that the author tried.
func TestTriedInVain(t *testing.T) {
	const failure = "RuntimeError: CUDA error: device-side assert triggered\n"
	asked := "Hi, I train a model. "
	plain := answerTo(t, asked+"\n\n"+failure).Diagnoses[0]
	const option = "CUDA_LAUNCH_BLOCKING=1"
	proposes := func(d report.Diagnosis) bool {
		for _, fix := range d.Fixes {
			if strings.Contains(strings.Join(fix.Run, " "), option) {
				return true
			}
		}
		return false
	}
	if !proposes(plain) {
		t.Fatalf("%s is not proposed for %s", option, plain.ID)
	}
	tried := answerTo(t, asked+"I tried to set "+option+", but the error persists.\n\n"+failure)
	if proposes(tried.Diagnoses[0]) || !strings.Contains(strings.Join(tried.Notes, " "), option) {
		t.Errorf("%s is proposed again; notes %q", option, tried.Notes)
	}
}

// TestTitleAndTraceback: the last line of a traceback is what its title says where the post does not show it, and where both show it, the
// traceback's. What a person wrote before and behind it is no part of it.
func TestTitleAndTraceback(t *testing.T) {
	const cut = "Traceback (most recent call last):\n  File \"/home/ana/tea.py\", line 4, in <module>\n    kettle.boil()\n  File \"/home/ana/ket"
	notebook := "{\n\t\"name\": \"RuntimeError\",\n\t\"message\": \"the kettle is cold\",\n\t\"stack\": \"" + strings.Repeat("-", 75) +
		"\nRuntimeError                              Traceback (most recent call last)\nCell In[1], line 1\n----> 1 kettle.boil()\n\nFile ~/tea/kettle.py:3\n      2 import pot\n----> 3 raise_cold()\n"
	for name, c := range map[string]struct {
		post, title string
		line        int
	}{
		"cut off":               {"Tea for many (RuntimeError: the kettle is cold)\n\nHi, I get this:\n\n```\n" + cut, "RuntimeError: the kettle is cold", 6},
		"more words above":      {"RuntimeError: the kettle is in a state that should not be when it is red\n" + kettle, "RuntimeError: the kettle is in a state that should not be", 7},
		"a quotation":           {"Hi, I want tea.\n\n>RuntimeError: the kettle is cold\n\nThank you\n", "RuntimeError: the kettle is cold", 3},
		"words behind":          {"RuntimeError: the kettle is cold\n\nBoiling ends with this:\n\nno tea\n", "RuntimeError: the kettle is cold", 1},
		"code behind":           {"I want tea.\n\nRuntimeError: the kettle is cold\nimport tea\n", "RuntimeError: the kettle is cold", 3},
		"hashes behind":         {"I want tea.\n\nRuntimeError: the kettle is cold\n" + strings.Repeat("#", 30) + "\nThe pot is red.\n", "RuntimeError: the kettle is cold", 3},
		"a worker":              {"the kettles fail\nworker-0: RuntimeError: the kettle is cold\n", "RuntimeError: the kettle is cold", 2},
		"a statement before":    {"raise RuntimeError(f\"{x} is cold\") RuntimeError: the kettle is cold\n", "RuntimeError: the kettle is cold", 1},
		"copied from an editor": {notebook, "RuntimeError: the kettle is cold", 5},
	} {
		found := answerTo(t, c.post).Diagnoses
		if len(found) == 0 || found[0].Title != c.title || found[0].Evidence[0].Line != c.line {
			t.Errorf("%s: found is %+v", name, found)
		}
	}
}

// TestToldInWords: a failure of which no line is shown is answered by the sentence that tells it; one of which a line is shown by that line.
func TestToldInWords(t *testing.T) {
	const title = "My kettle\n\nHi, with one GPU all is fine.\n"
	for _, c := range []struct{ post, id, shown string }{
		{title + "With two of them my server reboots. What is it?\n", "machine-restarts", "With two of them my server reboots."},
		{title + "With two of them my server reboots." + kettle, "python-runtime-error", "RuntimeError: the kettle is in a state that should not be"},
		{title + "I rebooted the server.\n", "", ""},
	} {
		answer := answerTo(t, c.post)
		switch {
		case c.id == "" && len(answer.Diagnoses) > 0:
			t.Errorf("%q is answered by %s", c.post, answer.Diagnoses[0].ID)
		case c.id != "" && (len(answer.Diagnoses) == 0 || answer.Diagnoses[0].ID != c.id || answer.Diagnoses[0].Evidence[0].Text != c.shown):
			t.Errorf("%q is answered by %+v", c.post, answer.Diagnoses)
		}
	}
}

// TestShownAsItStands: a print that is quoted with marks and other quotes is shown as the post has it.
func TestShownAsItStands(t *testing.T) {
	d := answerTo(t, "It is out of date\n\nNothing defines this class, so it gives the error:\n`error: ‘Kettle’ does not name a type`\n").Diagnoses
	if len(d) == 0 || d[0].Evidence[0].Text != "error: ‘Kettle’ does not name a type" {
		t.Errorf("it is answered by %+v", d)
	}
}
