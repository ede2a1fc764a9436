package githubbot

import (
	"context"
	"crypto"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"sync"
	"time"
)

// App is a GitHub App's identity. The difference between GitHub's clock and ours is learnt from its answers. Its tokens are signed and
// renewed here, and not by a library, because they must follow that clock and be renewed early when GitHub refuses one.
type App struct {
	id  int64
	key *rsa.PrivateKey

	mu   sync.Mutex
	skew time.Duration // GitHub's clock less ours
}

// NewApp reads an App's private key, PEM as GitHub hands it out.
func NewApp(id int64, key []byte) (*App, error) {
	block, _ := pem.Decode(key)
	if block == nil {
		return nil, errors.New("the file holds no PEM block: download the App's private key again")
	}
	if parsed, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return &App{id: id, key: parsed}, nil
	}
	parsed, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return nil, fmt.Errorf("neither a PKCS#1 nor a PKCS#8 key: %w", err)
	}
	private, ok := parsed.(*rsa.PrivateKey)
	if !ok {
		return nil, errors.New("a GitHub App's key is an RSA key")
	}
	return &App{id: id, key: private}, nil
}

// jwt signs a token of nine minutes in the App's name (RS256).
func (a *App) jwt(context.Context, bool) (string, error) {
	a.mu.Lock()
	now := time.Now().Add(a.skew)
	a.mu.Unlock()
	claims, err := json.Marshal(map[string]any{
		"iat": now.Add(-time.Minute).Unix(), "exp": now.Add(8 * time.Minute).Unix(), "iss": strconv.FormatInt(a.id, 10),
	})
	if err != nil {
		return "", err
	}
	encode := base64.RawURLEncoding.EncodeToString
	signed := encode([]byte(`{"alg":"RS256","typ":"JWT"}`)) + "." + encode(claims)
	digest := sha256.Sum256([]byte(signed))
	signature, err := rsa.SignPKCS1v15(rand.Reader, a.key, crypto.SHA256, digest[:])
	return signed + "." + encode(signature), err
}

// learn takes GitHub's clock from a refusal, and tells whether that may have been the reason.
func (a *App) learn(response *http.Response) bool {
	theirs, err := http.ParseTime(response.Header.Get("Date"))
	if err != nil {
		return false
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	before := a.skew
	a.skew = time.Until(theirs).Round(time.Second)
	return (a.skew - before).Abs() > 30*time.Second
}

// credentials gives the token to send; fresh asks for another than the last, which was refused.
type credentials func(ctx context.Context, fresh bool) (string, error)

// installationToken is a token of an installation, renewed before its hour is over.
type installationToken struct {
	app   *App
	api   *url.URL
	id    int64
	pause *pause

	mu      sync.Mutex
	value   string
	expires time.Time
}

func (t *installationToken) token(ctx context.Context, fresh bool) (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !fresh && t.value != "" && time.Until(t.expires) > time.Minute {
		return t.value, nil
	}
	response, err := t.ask(ctx)
	if err == nil && response.StatusCode == http.StatusUnauthorized && t.app.learn(response) {
		response.Body.Close()
		response, err = t.ask(ctx)
	}
	if err != nil {
		return "", err
	}
	defer response.Body.Close()
	if err := t.pause.take(response); err != nil {
		return "", err
	}
	var answer struct {
		Token   string    `json:"token"`
		Expires time.Time `json:"expires_at"`
	}
	switch code := response.StatusCode; {
	case code == http.StatusCreated:
	case code == http.StatusNotFound, code == http.StatusForbidden: // removed, or suspended
		return "", fmt.Errorf("%w: GitHub gave no token for installation %d: status %d", overUninstall, t.id, code)
	default:
		return "", fmt.Errorf("GitHub gave no token for installation %d: status %d", t.id, code)
	}
	if err := json.NewDecoder(io.LimitReader(response.Body, 1<<20)).Decode(&answer); err != nil || answer.Token == "" {
		return "", fmt.Errorf("GitHub's token for installation %d cannot be read: %w", t.id, errors.Join(err, io.ErrUnexpectedEOF))
	}
	t.value, t.expires = answer.Token, answer.Expires
	return t.value, nil
}

func (t *installationToken) ask(ctx context.Context) (*http.Response, error) {
	signed, err := t.app.jwt(ctx, true)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, 20*time.Second)
	address := t.api.JoinPath("app/installations", strconv.FormatInt(t.id, 10), "access_tokens").String()
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	request.Header.Set("Authorization", "Bearer "+signed)
	request.Header.Set("Accept", "application/vnd.github+json")
	response, err := http.DefaultTransport.RoundTrip(request)
	if err != nil {
		cancel()
		return nil, err
	}
	response.Body = closing{response.Body, cancel}
	return response, nil
}

type closing struct {
	io.ReadCloser
	also func()
}

func (c closing) Close() error { defer c.also(); return c.ReadCloser.Close() }

// authorized sends credentials to one host, and asks for fresh ones once when they are refused. It sends nothing while a pause lasts.
type authorized struct {
	host        string
	credentials credentials
	pause       *pause
}

func (a *authorized) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.URL.Host != a.host {
		return http.DefaultTransport.RoundTrip(request)
	}
	if err := a.pause.check(); err != nil {
		return nil, err
	}
	response, err := a.renewing(request)
	if err != nil {
		return nil, err
	}
	if err := a.pause.take(response); err != nil {
		response.Body.Close()
		return nil, err
	}
	return response, nil
}

// renewing asks for fresh credentials when they are refused.
func (a *authorized) renewing(request *http.Request) (*http.Response, error) {
	if a.credentials == nil {
		return http.DefaultTransport.RoundTrip(request)
	}
	response, err := a.send(request, false)
	if err != nil || response.StatusCode != http.StatusUnauthorized || request.Body != nil && request.GetBody == nil {
		return response, err
	}
	if request.GetBody != nil {
		body, err := request.GetBody()
		if err != nil {
			return response, nil
		}
		request = request.Clone(request.Context())
		request.Body = body
	}
	response.Body.Close()
	return a.send(request, true)
}

func (a *authorized) send(request *http.Request, fresh bool) (*http.Response, error) {
	token, err := a.credentials(request.Context(), fresh)
	if err != nil {
		return nil, err
	}
	request = request.Clone(request.Context())
	request.Header.Set("Authorization", "Bearer "+token)
	return http.DefaultTransport.RoundTrip(request)
}
