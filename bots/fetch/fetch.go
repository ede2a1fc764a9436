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
	maxDownload  = 256 << 20        // bytes, as sent
	downloadTime = 60 * time.Second // for one file, with its redirects
	maxRedirects = 5
)

// ErrRefused says that an address is not one to fetch from.
var ErrRefused = errors.New("not fetched")

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
		return fmt.Errorf("%s: an address with a password in it: %w", u.Hostname(), ErrRefused)
	case c.local[at] && (u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())):
		return nil
	case u.Scheme != "https":
		return fmt.Errorf("%s: only https is fetched: %w", u.Hostname(), ErrRefused)
	case u.Port() != "" && u.Port() != "443":
		return fmt.Errorf("%s: an unusual port: %w", at, ErrRefused)
	}
	host := strings.ToLower(u.Hostname())
	for _, allowed := range c.hosts {
		if host == allowed || strings.HasPrefix(allowed, "*.") && strings.HasSuffix(host, allowed[1:]) {
			return nil
		}
	}
	return fmt.Errorf("%s is not a host that logs are fetched from: %w", host, ErrRefused)
}

func loopback(host string) bool {
	addr, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && addr.Unmap().IsLoopback()
}

// redirect looks at every step as at the first, and takes credentials along to the same host only.
func (c *Client) redirect(next *http.Request, before []*http.Request) error {
	if len(before) > maxRedirects {
		return fmt.Errorf("more than %d redirects: %w", maxRedirects, ErrRefused)
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
			err = fmt.Errorf("%s is at %s, inside this network: %w", host, addr, ErrRefused)
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
		return log, fmt.Errorf("not an address: %w", ErrRefused)
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
		return log, fmt.Errorf("%s asked to sign in: the token may not read this file: %w", u.Hostname(), ErrRefused)
	}
	file, err := Spool(dir, &limited{response.Body, maxDownload})
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
