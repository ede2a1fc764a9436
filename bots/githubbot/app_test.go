package githubbot

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"
)

func testApp(t *testing.T) *App {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	pkcs8, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	app, err := NewApp(1, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: pkcs8}))
	if err != nil {
		t.Fatal(err)
	}
	return app
}

func TestWrongKeys(t *testing.T) {
	for _, text := range []string{"", "no PEM", "-----BEGIN RSA PRIVATE KEY-----\nAAAA\n-----END RSA PRIVATE KEY-----\n"} {
		if _, err := NewApp(1, []byte(text)); err == nil {
			t.Errorf("%q is taken for a key", text)
		}
	}
}

// A server whose clock is ten minutes off still gives a token: its own answer tells its clock.
func TestClockSkew(t *testing.T) {
	for _, skew := range []time.Duration{-10 * time.Minute, 0, 10 * time.Minute} {
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			now := time.Now().Add(skew)
			w.Header().Set("Date", now.UTC().Format(http.TimeFormat))
			claims, err := base64.RawURLEncoding.DecodeString(strings.Split(r.Header.Get("Authorization"), ".")[1])
			if err != nil {
				t.Error(err)
			}
			var c struct{ Iat, Exp int64 }
			if err := json.Unmarshal(claims, &c); err != nil || c.Iat > now.Unix() || c.Exp <= now.Unix() || c.Exp > now.Unix()+600 {
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
			w.WriteHeader(http.StatusCreated)
			fmt.Fprintf(w, `{"token":"given","expires_at":%q}`, now.Add(time.Hour).Format(time.RFC3339))
		}))
		api, err := url.Parse(server.URL + "/")
		if err != nil {
			t.Fatal(err)
		}
		token, err := (&installationToken{app: testApp(t), api: api, id: 5, pause: &pause{}}).token(context.Background(), false)
		if err != nil || token != "given" {
			t.Errorf("a clock %v off: %q, %v", skew, token, err)
		}
		server.Close()
	}
}

// Credentials go to the API only, wherever it redirects to.
func TestCredentialsStayWithTheAPI(t *testing.T) {
	leaked := ""
	other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { leaked = r.Header.Get("Authorization") }))
	defer other.Close()
	api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "Bearer token" {
			t.Errorf("the API got %q", r.Header.Get("Authorization"))
		}
		http.Redirect(w, r, other.URL, http.StatusFound)
	}))
	defer api.Close()
	client := http.Client{Transport: &authorized{host: strings.TrimPrefix(api.URL, "http://"), pause: &pause{},
		credentials: func(context.Context, bool) (string, error) { return "token", nil }}}
	response, err := client.Get(api.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if leaked != "" {
		t.Errorf("another host got %q", leaked)
	}
}
