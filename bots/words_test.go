package bots

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/matcher/source"
)

// raw is what a person should never have to read.
var raw = regexp.MustCompile(`gzip|zip:|EOF|dial|lookup|tcp|http:|invalid|%!|context|x509|missing_scope|ratelimited|\b[45]\d\d\b`)

func TestWhyIsInWords(t *testing.T) {
	client, err := fetch.New([]string{"github.com"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, refused := client.Get(context.Background(), "https://169.254.169.254/latest/meta-data", "", t.TempDir())
	damaged := source.Each("a.gz", strings.NewReader("\x1f\x8b\x08\x00garbage garbage garbage"), limits, func(_ string, r io.Reader) error { _, err := io.ReadAll(r); return err })
	xz := source.Each("a.xz", strings.NewReader("\xfd7zXZ\x00 and so on and so on"), limits, func(string, io.Reader) error { return nil })
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"elsewhere":    {refused, "is not a host that logs are fetched from"},
		"404":          {fetch.StatusError{Host: "github.com", Code: 404}, "no such file"},
		"403":          {fetch.StatusError{Host: "github.com", Code: 403}, "signed in"},
		"502":          {fetch.StatusError{Host: "github.com", Code: 502}, "trouble"},
		"large":        {fetch.ErrTooLarge, "256 MiB"},
		"damaged":      {damaged, "damaged"},
		"xz":           {xz, ".gz, .zst, .zip or .tar"},
		"cut":          {io.ErrUnexpectedEOF, "Upload it again"},
		"network":      {&url.Error{Op: "Get", URL: "https://x", Err: &net.OpError{Op: "dial", Net: "tcp", Err: errors.New("refused")}}, "could not be reached"},
		"time":         {context.DeadlineExceeded, "too long"},
		"anything":     {errors.New("gzip: invalid header at 0x1f"), "on my side"},
		"wait":         {queue.Later(errors.New("ratelimited"), 1), "a few minutes"},
		"many":         {errEnough, "more than 200 logs"},
		"not checksum": {gzip.ErrHeader, "on my side"},
	} {
		got := Unread("train_0.log", c.err)
		if !strings.Contains(got, c.want) || !strings.HasPrefix(got, "I could not read `train_0.log`: ") || raw.MatchString(got) {
			t.Errorf("%s (%v): %s", name, c.err, got)
		}
	}
}

func TestUnknownFactsAreExplained(t *testing.T) {
	engine, err := NewEngine()
	if err != nil {
		t.Fatal(err)
	}
	_, complaints := engine.Usable(map[string]string{"torhc": "2.6.0"})
	if len(complaints) != 1 || !strings.Contains(complaints[0], "torhc") || !strings.Contains(complaints[0], "Did you mean `torch`?") {
		t.Errorf("%q", complaints)
	}
	_, complaints = engine.Usable(map[string]string{"world_size": strings.Repeat("9x", 20_000), strings.Repeat("z", 20_000): "1"})
	if len(complaints) != 2 || len(strings.Join(complaints, " ")) > 1000 {
		t.Errorf("%d characters", len(strings.Join(complaints, " ")))
	}
	_, complaints = engine.Usable(map[string]string{"zzzzzzzzzz": "1"})
	if len(complaints) != 1 || !strings.Contains(complaints[0], "such as `torch=") {
		t.Errorf("%q", complaints)
	}
	_, complaints = engine.Usable(map[string]string{"world_size": "many"})
	if len(complaints) != 1 || !strings.Contains(complaints[0], "world_size") || !strings.Contains(complaints[0], "not a number") {
		t.Errorf("%q", complaints)
	}
}

func TestUnknownWordsInFrontOfALog(t *testing.T) {
	engine, err := NewEngine()
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]int{
		"nonsense=1 Traceback (most recent call last):\n  File":  1,
		"nonsense=1 other=2\nTraceback (most recent call last):": 2,
		"torch=2.6.0 Traceback":                                  0,
		"Traceback x=1":                                          0,
		"epoch=1 loss=0.3\nepoch=2 loss=0.2\n":                   0, // a log
		"":                                                       0,
	} {
		if got := engine.Unknown(text); len(got) != want {
			t.Errorf("%q: %q", text, got)
		}
	}
}
