package live

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpu-triage/triage/rules"
)

// Prometheus asks a Prometheus server, which scrapes NVIDIA's dcgm-exporter, about other machines.
type Prometheus struct {
	URL     string
	Client  *http.Client  // nil means http.DefaultClient
	Timeout time.Duration // for one call of Hosts; zero means 5 seconds
	Base    *rules.Base   // what Xids mean
}

// Bounds of what is asked and read.
const (
	maxAskedHosts = 32
	maxAnswer     = 8 << 20 // bytes of one answer
	xidWindow     = 30 * time.Minute
	xidStep       = 15 * time.Second
)

// Hosts tells of the hosts what their exporters said at the moment at, the end of a log, and which Xids came in the half hour
// before. A host that no exporter knows is left out. The error says in one line why nothing, or not all, could be learned; it comes
// within the time limit.
func (p *Prometheus) Hosts(ctx context.Context, hosts []string, at time.Time) ([]*Machine, error) {
	if len(hosts) == 0 {
		return nil, nil
	}
	ctx, cancel := context.WithTimeout(ctx, cmp.Or(p.Timeout, 5*time.Second))
	defer cancel()
	if now := time.Now(); at.IsZero() || at.After(now) {
		at = now
	}
	hosts = hosts[:min(len(hosts), maxAskedHosts)]
	now, err := p.query(ctx, "query", url.Values{"query": {selector(metricNames(), hosts)}, "time": {stamp(at)}})
	if err != nil {
		return nil, err
	}
	machines := machinesOf(now, at)
	events, err := p.query(ctx, "query_range", url.Values{"query": {selector(xidMetrics, hosts)}, "start": {stamp(at.Add(-xidWindow))},
		"end": {stamp(at)}, "step": {strconv.Itoa(int(xidStep.Seconds()))}})
	for _, s := range events {
		for _, m := range machines {
			if m.Host == s.host() {
				m.Xids = append(m.Xids, s.xids()...)
			}
		}
	}
	for _, m := range machines {
		slices.SortFunc(m.Xids, func(a, b Xid) int { return a.Time.Compare(b.Time) })
		explain(m.Xids, p.Base.Xids)
	}
	chosen, ambiguous := meant(machines, hosts)
	if err == nil && ambiguous != "" {
		err = fmt.Errorf("several hosts in Prometheus are called %s", ambiguous)
	}
	return chosen, err
}

func stamp(t time.Time) string { return strconv.FormatInt(t.Unix(), 10) }

// hostLabels are where exporters name their host: Hostname until dcgm-exporter 4.8.2, hostname since, and the address that was
// scraped where neither is kept.
var hostLabels = []string{"Hostname", "hostname", "instance"}

// selector asks for the metrics of the hosts under every spelling of the label. Logs and exporters may know a host by its short or
// its full name.
func selector(metrics, hosts []string) string {
	var names []string
	for _, host := range hosts {
		names = append(names, regexp.QuoteMeta(shortName(host)))
	}
	of := "(" + strings.Join(names, "|") + `)([.].*)?(:\d+)?`
	var parts []string
	for _, label := range hostLabels {
		parts = append(parts, fmt.Sprintf("{__name__=~%s,%s=~%s}", quoted(strings.Join(metrics, "|")), label, quoted(of)))
	}
	return strings.Join(parts, " or ")
}

// quoted is a string literal of PromQL.
func quoted(text string) string { return strconv.Quote(text) }

// shortName is the part before the first dot, except of an address.
func shortName(host string) string {
	if net.ParseIP(host) != nil {
		return host
	}
	short, _, _ := strings.Cut(host, ".")
	return short
}

// series is one series of an answer.
type series struct {
	Metric map[string]string `json:"metric"`
	Value  sample            `json:"value"`
	Values []sample          `json:"values"`
}

// sample is a pair of seconds and a number written as text.
type sample struct {
	at    time.Time
	value float64
	known bool
}

// UnmarshalJSON reads [1700000000.5, "42"].
func (s *sample) UnmarshalJSON(data []byte) error {
	var seconds float64
	var text string
	if err := json.Unmarshal(data, &[]any{&seconds, &text}); err != nil {
		return err
	}
	value, err := strconv.ParseFloat(text, 64)
	s.at, s.value = time.UnixMilli(int64(seconds*1000)), value
	s.known = err == nil && !blank(value)
	return nil
}

// blank tells whether a value is one of those with which DCGM says that it has none: the largest numbers of 32 and 64 bits, and
// their like for floating point, with a few below them that say why. No quantity that is read here comes near them.
func blank(value float64) bool { return value != value || value >= 0x7ffffff0 || value < 0 }

func (s *series) host() string {
	for _, label := range hostLabels {
		if host := s.Metric[label]; host != "" {
			if name, _, err := net.SplitHostPort(host); err == nil {
				return name
			}
			return host
		}
	}
	return ""
}

// query asks one question of Prometheus's HTTP API.
func (p *Prometheus) query(ctx context.Context, kind string, form url.Values) ([]series, error) {
	address := strings.TrimRight(p.URL, "/") + "/api/v1/" + kind
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, fmt.Errorf("asking Prometheus: %w", err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := cmp.Or(p.Client, http.DefaultClient).Do(request)
	if err != nil {
		if ctx.Err() != nil {
			return nil, fmt.Errorf("no answer from Prometheus in time: %w", ctx.Err())
		}
		return nil, fmt.Errorf("asking Prometheus: %w", err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	if err != nil {
		return nil, fmt.Errorf("the answer of Prometheus broke off: %w", err)
	}
	if len(body) > maxAnswer {
		return nil, fmt.Errorf("the answer of Prometheus is larger than %d MiB", maxAnswer>>20)
	}
	var answer struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   struct {
			Result []series `json:"result"`
		} `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return nil, fmt.Errorf("the Prometheus server answered %s and no JSON that can be read: %w", response.Status, err)
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("the Prometheus server answered %s: %s", response.Status, clip(answer.Error, 200))
	}
	return answer.Data.Result, nil
}

// xidMetrics tell Xids: a gauge that keeps the last one for ever, and a count within a sliding window.
var xidMetrics = []string{"DCGM_FI_DEV_XID_ERRORS", "DCGM_EXP_XID_ERRORS_COUNT"}

// xids are the events that a series shows. The gauge shows one only where it changes: what it says at first may be of any age. A
// count is of a window of some minutes, so that every rise is an event.
func (s *series) xids() []Xid {
	code, fixed := strconv.Atoi(s.Metric["xid"])
	var found []Xid
	for i, now := range s.Values {
		if i == 0 || !now.known || !s.Values[i-1].known {
			continue
		}
		before := s.Values[i-1].value
		if fixed != nil {
			code = int(now.value)
		}
		changed := fixed != nil && now.value != before && now.value > 0 || fixed == nil && now.value > before
		if changed && code > 0 {
			found = append(found, Xid{Time: now.at, Code: code, Bus: s.Metric["pci_bus_id"], GPU: count(s.Metric["gpu"])})
		}
	}
	return found
}
