package bots

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/gpu-triage/triage/matcher/report"
)

// Metrics is what an operator watches of the requests and the answers. What is of the queue, the queue adds to the registry.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	ack      *prometheus.HistogramVec
	answers  *prometheus.CounterVec
	feedback *prometheus.CounterVec
	dropped  *prometheus.CounterVec
	causes   *prometheus.CounterVec

	mu    sync.Mutex
	nodes map[string]bool // those that causes are counted for
}

// NewMetrics returns metrics in a registry of their own.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("triage_requests_total", "HTTP requests by endpoint and status.", "endpoint", "code"),
		ack: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "triage_acknowledge_seconds",
			Help: "Time from a request's arrival to its acknowledgement.", Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3}}, []string{"endpoint"}),
		answers:  counter("triage_answers_total", "Answers given by signature and certainty; signature \"none\" when nothing was known.", "via", "signature", "certainty"),
		feedback: counter("triage_feedback_total", "What people said of an answer.", "via", "signature", "verdict"),
		dropped:  counter("triage_dropped_total", "Answers that could not be delivered anywhere, and requests ignored, by reason.", "via", "reason"),
		causes:   counter("triage_causes_total", "Causes told, each once for a log, by signature and by the node that it failed on; node \"other\" when there are too many.", "signature", "node"),
		nodes:    make(map[string]bool),
	}
	m.registry.MustRegister(m.requests, m.ack, m.answers, m.feedback, m.dropped, m.causes,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Registry takes further metrics, which Handler serves too.
func (m *Metrics) Registry() prometheus.Registerer { return m.registry }

// Handler serves the metrics in Prometheus's format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Acknowledged counts an HTTP request and how long it waited for its answer.
func (m *Metrics) Acknowledged(endpoint string, code int, took time.Duration) {
	m.requests.WithLabelValues(endpoint, strconv.Itoa(code)).Inc()
	m.ack.WithLabelValues(endpoint).Observe(took.Seconds())
}

// Answered counts an answer by what it said first.
func (m *Metrics) Answered(via string, report report.Report) {
	signature, certainty := "none", "none"
	if len(report.Diagnoses) > 0 {
		signature, certainty = report.Diagnoses[0].ID, string(report.Diagnoses[0].Certainty)
	}
	m.answers.WithLabelValues(via, signature, certainty).Inc()
}

// Feedback counts that n people found the answer with a signature helpful or wrong.
func (m *Metrics) Feedback(via, signature, verdict string, n int) {
	if n > 0 {
		m.feedback.WithLabelValues(via, signature, verdict).Add(float64(n))
	}
}

// Dropped counts a request ignored or an answer that found no way to its reader.
func (m *Metrics) Dropped(via, reason string) { m.dropped.WithLabelValues(via, reason).Inc() }

// maxNodes bounds the nodes that are counted by name.
const maxNodes = 200

// Caused counts a cause on a node, "" when the log names none.
func (m *Metrics) Caused(signature, node string) {
	m.mu.Lock()
	switch {
	case node == "" || m.nodes[node]:
	case len(m.nodes) < maxNodes:
		m.nodes[node] = true
	default:
		node = "other"
	}
	m.mu.Unlock()
	m.causes.WithLabelValues(signature, node).Inc()
}
