package fetch

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
)

func TestOnlyAllowedAddresses(t *testing.T) {
	c, err := New([]string{"github.com", "*.githubusercontent.com"}, []string{"artifacts.example.org", "127.0.0.1:8081", "[::1]:9000"})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]bool{
		"https://github.com/user-attachments/files/1/train.log": true,
		"https://objects.githubusercontent.com/x?sig=y":         true,
		"https://GitHub.com:443/x":                              true,
		"https://artifacts.example.org/log":                     true,
		"http://127.0.0.1:8081/log":                             true,
		"https://[::1]:9000/log":                                true,
		"http://github.com/x":                                   false, // not https
		"https://github.com:8443/x":                             false,
		"https://user:pass@github.com/x":                        false,
		"https://github.com.evil.example/x":                     false,
		"https://evilgithubusercontent.com/x":                   false,
		"https://githubusercontent.com/x":                       false,
		"https://example.org/x":                                 false,
		"http://artifacts.example.org/log":                      false, // http only on this machine
		"http://127.0.0.1:8082/log":                             false, // another port
		"https://127.0.0.1/":                                    false,
		"https://169.254.169.254/latest/meta-data/":             false,
		"file:///etc/passwd":                                    false,
		"gopher://github.com/x":                                 false,
		"//github.com/x":                                        false,
		"https://github.com\x00.evil/x":                         false,
		"":                                                      false,
	} {
		if got := c.Allows(address); got != want {
			t.Errorf("Allows(%q) = %v, want %v", address, got, want)
		}
	}
	for _, wrong := range []string{"https://x.org", "a b", "*.x.org", "user@x.org", ":80"} {
		if _, err := New(nil, []string{wrong}); err == nil {
			t.Errorf("TRIAGE_FETCH_ALLOW=%q is taken", wrong)
		}
	}
}

func TestPublic(t *testing.T) {
	for text, want := range map[string]bool{
		"140.82.112.3": true, "2606:50c0:8000::153": true,
		"127.0.0.1": false, "10.0.0.1": false, "172.16.3.4": false, "192.168.1.1": false, "169.254.169.254": false, "100.64.0.1": false,
		"0.0.0.0": false, "255.255.255.255": false, "224.0.0.1": false, "198.18.0.1": false, "::1": false, "::": false, "fe80::1": false,
		"fd00::1": false, "::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "64:ff9b::7f00:1": false, "2002:7f00:1::": false, "ff02::1": false,
	} {
		if got := public(netip.MustParseAddr(text)); got != want {
			t.Errorf("public(%s) = %v, want %v", text, got, want)
		}
	}
}

// A name of an allowed host that leads into this network is not followed, whatever the name is.
func TestAllowedNameInsideThisNetwork(t *testing.T) {
	c, err := New([]string{"localhost"}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Get(context.Background(), "https://localhost/x", "", t.TempDir())
	if !errors.Is(err, ErrRefused) {
		t.Errorf("localhost as an allowed host gives %v", err)
	}
}

func TestRedirects(t *testing.T) {
	var seen http.Header
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen = r.Header.Clone()
		_, _ = io.WriteString(w, "a log\n")
	}))
	defer other.Close()
	var target string
	first := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, target, http.StatusFound)
	}))
	defer first.Close()
	allow := []string{host(first), host(other)}
	c, err := New(nil, allow)
	if err != nil {
		t.Fatal(err)
	}
	target = other.URL + "/log?sig=1"
	log, err := c.Get(context.Background(), first.URL+"/a", "secret", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if content, _ := os.ReadFile(log.Path); string(content) != "a log\n" {
		t.Errorf("got %q", content)
	}
	if seen.Get("Authorization") != "" || seen.Get("Referer") != "" {
		t.Errorf("sent along to another host: %v", seen)
	}
	for _, target = range []string{"http://169.254.169.254/", "https://10.0.0.1/", "http://localhost:1/", "file:///etc/passwd", first.URL + "/again"} {
		if _, err := c.Get(context.Background(), first.URL+"/a", "secret", t.TempDir()); !errors.Is(err, ErrRefused) {
			t.Errorf("a redirect to %s gives %v", target, err)
		}
	}
}

func host(s *httptest.Server) string { return strings.TrimPrefix(s.URL, "http://") }

func TestErrorsDoNotQuoteAddresses(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := listener.Addr().String()
	listener.Close()
	c, err := New(nil, []string{at})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Get(context.Background(), "http://"+at+"/log?X-Amz-Signature=verysecret", "", t.TempDir())
	if err == nil || strings.Contains(err.Error(), "verysecret") {
		t.Errorf("the error is %v", err)
	}
}

func TestSignInPage(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = io.WriteString(w, "<title>Sign in</title>")
	}))
	defer s.Close()
	c, err := New(nil, []string{host(s)})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Get(context.Background(), s.URL, "token", t.TempDir()); !errors.Is(err, ErrRefused) {
		t.Errorf("a sign-in page gives %v", err)
	}
}

func TestDecodedIsBounded(t *testing.T) {
	zeros := make([]byte, 1<<20)
	var packed bytes.Buffer
	g := gzip.NewWriter(&packed)
	_, _ = g.Write(zeros)
	g.Close()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for encoding, content := range map[string][]byte{"": zeros, "gzip": packed.Bytes(), "zstd": z.EncodeAll(zeros, nil)} {
		r, err := Decoded(bytes.NewReader(content), encoding, 1<<20)
		if err != nil {
			t.Fatal(err)
		}
		if n, err := io.Copy(io.Discard, r); err != nil || n != 1<<20 {
			t.Errorf("%q within the limit: %d bytes, %v", encoding, n, err)
		}
		r, err = Decoded(bytes.NewReader(content), encoding, 1<<20-1)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, r); !errors.Is(err, ErrTooLarge) {
			t.Errorf("%q over the limit: %v", encoding, err)
		}
	}
	if _, err := Decoded(nil, "br", 1); err == nil {
		t.Error("an unknown encoding is taken")
	}
}

func FuzzAllows(f *testing.F) {
	f.Add("https://github.com/x")
	f.Add("https://github.com@evil.example/")
	f.Add("https://github.com\\@evil.example/")
	c, err := New([]string{"github.com"}, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, address string) {
		if !c.Allows(address) {
			return
		}
		request, err := http.NewRequest(http.MethodGet, address, nil)
		if err != nil {
			return
		}
		if at := strings.ToLower(request.URL.Hostname()); at != "github.com" || request.URL.Scheme != "https" {
			t.Errorf("%q leads to %s over %s", address, at, request.URL.Scheme)
		}
	})
}
