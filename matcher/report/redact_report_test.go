package report_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// A report holds no secret, wherever in the log or among the facts it stood.
func TestReportHoldsNoSecret(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(3, 4))
	token := "hf_" + draw(random, alphanum, 34)
	password, key := draw(random, alphanum, 12), draw(random, hexadecimal, 40)
	log := "WANDB_API_KEY=" + key + "\nTraceback (most recent call last):\n" +
		"  File \"/home/user/train.py\", line 7, in push\n    login(token=\"" + token + "\")\n" +
		"mymodel.OddError: no access to https://user:" + password + "@example.org for " + token + "\nand " + token + " again\n"
	value, err := base.Vocabulary.Parse("env.MY_SECRET", password)
	if err != nil {
		t.Fatal(err)
	}
	reading := matcher.New(base).Begin()
	if err := reading.Read(t.Context(), "train.log", strings.NewReader(log)); err != nil {
		t.Fatal(err)
	}
	answer := reading.Report(facts.Fact{Name: "env.MY_SECRET", Value: value, Source: facts.FromUser, Where: "--fact"})
	if len(answer.Diagnoses) == 0 || !strings.Contains(answer.Diagnoses[0].Evidence[0].Text, "[redacted ") {
		t.Fatalf("the line of the token is not quoted: %+v", answer.Diagnoses)
	}
	encoded, err := json.Marshal(answer)
	if err != nil {
		t.Fatal(err)
	}
	for _, secret := range []string{token, password, key} {
		if strings.Contains(string(encoded), secret) {
			t.Errorf("%s in %s", secret, encoded)
		}
	}
}

// A text is cut wherever it is too long: no part of a secret is left there.
func TestNoPartOfASecretIsLeftWhereTextIsCut(t *testing.T) {
	base, err := rules.Load()
	if err != nil {
		t.Fatal(err)
	}
	engine, random := matcher.New(base), rand.New(rand.NewPCG(5, 6))
	token, password := "hf_"+draw(random, alphanum, 34), draw(random, alphanum, 40)
	for _, length := range []int{150, 200, 300, 400, 1000, 2000, 4000} {
		for _, back := range []int{4, 20} {
			filler := strings.Repeat("word ", 2000)[:length-back]
			line := filler + "token=" + token + " https://user:" + password + "@example.org end"
			log := "before " + line + "\nTraceback (most recent call last):\n  File \"/home/user/train.py\", line 7, in push\n" +
				"    " + line + "\nmymodel.OddError: " + line + "\nand " + line + "\n"
			reading := engine.Begin()
			if err := reading.Read(t.Context(), "train.log", strings.NewReader(log)); err != nil {
				t.Fatal(err)
			}
			encoded, err := json.Marshal(reading.Report())
			if err != nil {
				t.Fatal(err)
			}
			if strings.Contains(string(encoded), token[:11]) || strings.Contains(string(encoded), password[:8]) {
				t.Errorf("%d characters, cut %d before the end of them: a part is left in %s", length, back, encoded)
			}
		}
	}
}

// A private key of which every line is evidence of its own goes as a whole.
func TestPrivateKeyInSeveralLinesOfEvidence(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	long, short := draw(random, base64, 64), draw(random, base64, 18)
	for _, lines := range [][]string{
		{"-----BEGIN RSA PRIVATE KEY-----", long, short, "-----END RSA PRIVATE KEY-----"},
		{long, short, "-----END RSA PRIVATE KEY-----"},
		{"config: |", "    -----BEGIN EC PRIVATE KEY-----", "    " + short, "failed"},
	} {
		r := report.Report{Diagnoses: []report.Diagnosis{{}}}
		for _, line := range lines {
			r.Diagnoses[0].Evidence = append(r.Diagnoses[0].Evidence, report.Evidence{Text: line})
		}
		r.Redact()
		encoded, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(encoded), long) || strings.Contains(string(encoded), short) {
			t.Errorf("%q is left as %s", lines, encoded)
		}
	}
}
