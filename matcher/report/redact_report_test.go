package report_test

import (
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/matcher"
	"github.com/gpu-triage/triage/matcher/facts"
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
