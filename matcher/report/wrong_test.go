package report

import (
	"net/url"
	"strings"
	"testing"
)

func TestImpersonal(t *testing.T) {
	for text, want := range map[string]string{
		`File "/home/alice/secret-project/train.py", line 3, in main: x()`:                 `File "…/train.py", line 3, in main: x()`,
		`File "/home/alice/.venv/lib/python3.12/site-packages/torch/nn/modules/module.py"`: `File "…/site-packages/torch/nn/modules/module.py"`,
		`C:\Users\Alice\train.py failed`:                                                   `…/train.py failed`,
		`~/data/shard-1.tar does not exist`:                                                `…/shard-1.tar does not exist`,
		`connect to 10.1.2.3:29500 from node17.cluster.example.org`:                        `connect to [address]:29500 from [address]`,
		`alice@node17 and alice@example.org`:                                               `[address] and [address]`,
		`see https://user@wiki.example.org/x?y=1 for it`:                                   `see [address] for it`,
		`tried to allocate 2.00 GiB, torch 2.6.0+cu124, cuDNN 9.1.0.70`:                    `tried to allocate 2.00 GiB, torch 2.6.0+cu124, cuDNN [address]`,
		`RuntimeError: size mismatch, m1: [4 x 5], a/b`:                                    `RuntimeError: size mismatch, m1: [4 x 5], a/b`,
	} {
		if got := impersonal(text); got != want {
			t.Errorf("%s became %s, not %s", text, got, want)
		}
	}
}

func TestIssueLink(t *testing.T) {
	secret := "hf_" + strings.Repeat("aBcDeFgHiJ", 3) + "kLmN"
	long := Report{Program: "1.2.3", Knowledge: "2027.01.02", Diagnoses: []Diagnosis{{
		ID: "cuda-oom", Title: "Out of memory in /home/alice/train.py", Certainty: Confirmed,
		Evidence: []Evidence{{Line: 7, Text: "```\n&body=HF_TOKEN=" + secret + strings.Repeat(" %&?#ü", 3000)}, {Line: 8, Text: strings.Repeat("x", 5000)}},
		Facts:    []FactValue{{Name: "cudnn", Value: "9.1.0.70"}},
	}}}
	for name, r := range map[string]Report{"long": long, "nothing": {Program: "1.2.3", Stats: Stats{Lines: 12}}} {
		link := r.IssueLink()
		u, err := url.Parse(link)
		if err != nil || len(link) > maxLink || !strings.HasPrefix(link, IssuePage+"?") {
			t.Fatalf("%s: %d bytes, %v: %s", name, len(link), err, link)
		}
		body := u.Query().Get("body")
		if strings.Contains(body, "alice") || strings.Contains(body, secret[:20]) || strings.Count(body, "```")%2 != 0 || len(u.Query()["body"]) != 1 {
			t.Errorf("%s: %s", name, body)
		}
		if !strings.Contains(body, "triage 1.2.3") || !strings.Contains(body, "What was it really?") {
			t.Errorf("%s lacks something: %s", name, body)
		}
	}
	if body := must(url.Parse((&Report{Diagnoses: []Diagnosis{{Facts: long.Diagnoses[0].Facts}}}).IssueLink())).Query().Get("body"); !strings.Contains(body, "cudnn: 9.1.0.70") {
		t.Error(body)
	}
	if title := must(url.Parse(long.IssueLink())).Query().Get("title"); title != "Wrong: cuda-oom" {
		t.Error(title)
	}
}

func must(u *url.URL, err error) *url.URL {
	if err != nil {
		panic(err)
	}
	return u
}
