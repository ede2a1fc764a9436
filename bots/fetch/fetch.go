package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path"
	"strings"
	"time"
)

// Client fetches logs from the hosts that it was told to trust.
type Client struct {
	hosts []string        // "github.com", "*.githubusercontent.com"
	local map[string]bool // "host:port" that the operator named: may be in a private network, and plain http on this machine
	http  *http.Client
}

const (
	downloadTime = 60 * time.Second // for one file, with its redirects
	maxRedirects = 5
)

// MaxDownload is the most that a log may have, in bytes as sent.
const MaxDownload = 256 << 20

// Refusal says in words why an address is not one to fetch from, and what to do instead. It is ErrRefused.
type Refusal string

func (r Refusal) Error() string { return "not fetched: " + string(r) }

// Is tells that a refusal is ErrRefused.
func (r Refusal) Is(target error) bool { return target == ErrRefused }

// ErrRefused is what every Refusal is.
var ErrRefused = errors.New("not fetched")

// instead is what to do about an address that is not fetched.
const instead = "Paste the log, or attach it"

func refuse(format string, arguments ...any) error {
	return Refusal(fmt.Sprintf(format, arguments...) + ". " + instead)
}

// New returns a client for some public hosts ("*.x.org" for all below x.org) and, in allow, those an operator adds as host or
// host:port.
func New(hosts, allow []string) (*Client, error) {
	c := &Client{hosts: hosts, local: map[string]bool{}}
	for _, entry := range allow {
		host, port, err := net.SplitHostPort(entry)
		if err != nil {
			host, port = strings.Trim(entry, "[]"), "443"
		}
		if host == "" || strings.ContainsAny(entry, "/@ *") {
			return nil, fmt.Errorf("TRIAGE_FETCH_ALLOW: %q: write host or host:port", entry)
		}
		c.local[net.JoinHostPort(strings.ToLower(host), port)] = true
	}
	c.http = &http.Client{
		Timeout: downloadTime,
		Transport: &http.Transport{
			DialContext: c.dial, TLSHandshakeTimeout: 10 * time.Second, ResponseHeaderTimeout: 20 * time.Second,
			MaxResponseHeaderBytes: 64 << 10, MaxIdleConnsPerHost: 2, IdleConnTimeout: 30 * time.Second, DisableCompression: true,
		},
		CheckRedirect: c.redirect,
	}
	return c, nil
}

// Allows tells whether Get would try an address.
func (c *Client) Allows(address string) bool {
	u, err := url.Parse(address)
	return err == nil && c.check(u) == nil
}

// Local tells whether an address is at a host that the operator added.
func (c *Client) Local(address string) bool {
	u, err := url.Parse(address)
	return err == nil && c.local[authority(u)]
}

// authority is an address's host and port, the port always written.
func authority(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = "443"
		if u.Scheme == "http" {
			port = "80"
		}
	}
	return net.JoinHostPort(strings.ToLower(u.Hostname()), port)
}

func (c *Client) check(u *url.URL) error {
	at := authority(u)
	switch {
	case u.User != nil:
		return refuse("there is a name or a password in its address")
	case c.local[at] && (u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())):
		return nil
	case u.Scheme != "https":
		return refuse("only https is fetched, also from %s", u.Hostname())
	case u.Port() != "" && u.Port() != "443":
		return refuse("%s is an unusual port, from which nothing is fetched", at)
	}
	host := strings.ToLower(u.Hostname())
	for _, allowed := range c.hosts {
		if host == allowed || strings.HasPrefix(allowed, "*.") && strings.HasSuffix(host, allowed[1:]) {
			return nil
		}
	}
	return refuse("%s is not a host that logs are fetched from", host)
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// redirect looks at every step as at the first, and takes credentials along to the same host only.
func (c *Client) redirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return refuse("its address leads on more than %d times", maxRedirects)
	}
	if err := c.check(next.URL); err != nil {
		return err
	}
	next.Header.Del("Referer")
	if authority(next.URL) != authority(before[0].URL) || next.URL.Scheme != before[0].URL.Scheme {
		next.Header.Del("Authorization")
		next.Header.Del("Cookie")
	}
	return nil
}

// dial connects only to addresses of the open Internet. It looks at them after the name was resolved and connects to what it looked
// at, so that a name that resolves to something else the second time gains nothing.
func (c *Client) dial(ctx context.Context, network, at string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(at)
	if err != nil {
		return nil, err
	}
	addrs, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil {
		return nil, err
	}
	var dialer net.Dialer
	err = fmt.Errorf("%s has no address", host)
	for _, addr := range addrs {
		addr = addr.Unmap()
		named := c.local[strings.ToLower(at)] && !addr.IsLinkLocalUnicast() && !addr.IsMulticast()
		if !public(addr) && !named {
			err = refuse("%s is inside a private network", host)
			continue
		}
		conn, failed := dialer.DialContext(ctx, network, net.JoinHostPort(addr.String(), port))
		if failed == nil {
			return conn, nil
		}
		err = failed
	}
	return nil, err
}

var reserved = prefixes("0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15", "198.51.100.0/24",
	"203.0.113.0/24", "240.0.0.0/4", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/32", "2001:db8::/32", "2002::/16", "fec0::/10")

func prefixes(texts ...string) []netip.Prefix {
	list := make([]netip.Prefix, len(texts))
	for i, text := range texts {
		list[i] = netip.MustParsePrefix(text)
	}
	return list
}

// public tells whether an address belongs to the open Internet.
func public(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" {
		return false
	}
	for _, prefix := range reserved {
		if prefix.Contains(addr) {
			return false
		}
	}
	return true
}

// StatusError is an answer other than success.
type StatusError struct {
	Host string
	Code int
}

func (e StatusError) Error() string { return fmt.Sprintf("%s answered %d", e.Host, e.Code) }

// Get downloads a file into dir. Bearer, when set, is sent to that host and no other.
func (c *Client) Get(ctx context.Context, address, bearer, dir string) (log Log, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return log, refuse("it is no address")
	}
	if err := c.check(u); err != nil {
		return log, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return log, err
	}
	if bearer != "" {
		request.Header.Set("Authorization", "Bearer "+bearer)
	}
	response, err := c.http.Do(request)
	if err != nil {
		// The error of net/http quotes the whole address, and a signed address is a secret.
		if inner := (&url.Error{}); errors.As(err, &inner) {
			err = inner.Err
		}
		return log, fmt.Errorf("fetch from %s: %w", u.Hostname(), err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return log, StatusError{u.Hostname(), response.StatusCode}
	}
	if bearer != "" && strings.HasPrefix(response.Header.Get("Content-Type"), "text/html") {
		return log, refuse("%s wants me to sign in: I may not read this file", u.Hostname())
	}
	file, err := Spool(dir, &limited{response.Body, MaxDownload})
	if err != nil {
		return log, fmt.Errorf("fetch from %s: %w", u.Hostname(), err)
	}
	return Log{Name: shown(path.Base(u.Path)), Path: file}, nil
}

// Spool writes what a reader gives into a file of dir; the caller removes it.
func Spool(dir string, from io.Reader) (file string, err error) {
	out, err := os.CreateTemp(dir, "fetched")
	if err != nil {
		return "", err
	}
	_, err = io.Copy(out, from)
	if closing := out.Close(); err == nil {
		err = closing
	}
	if err != nil {
		_ = os.Remove(out.Name())
	}
	return out.Name(), err
}

// shown makes a name that somebody else chose one short line.
func shown(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, strings.ToValidUTF8(name, "?"))
	if len(name) > 200 {
		name = "…" + strings.ToValidUTF8(name[len(name)-200:], "")
	}
	return name
}
