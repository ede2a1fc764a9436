package bots

import (
	"context"
	"net/http"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics is what an operator watches.
type Metrics struct {
	registry *prometheus.Registry
	requests *prometheus.CounterVec
	ack      *prometheus.HistogramVec
	jobs     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
	answers  *prometheus.CounterVec
	feedback *prometheus.CounterVec
	dropped  *prometheus.CounterVec
}

// NewMetrics returns metrics in a registry of their own.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("triage_requests_total", "HTTP requests by endpoint and status.", "endpoint", "code"),
		ack: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "triage_acknowledge_seconds",
			Help: "Time from a request's arrival to its acknowledgement.", Buckets: []float64{.001, .005, .01, .025, .05, .1, .25, .5, 1, 2, 3}}, []string{"endpoint"}),
		jobs: counter("triage_jobs_total", "Jobs by kind and event (stored, duplicate, done).", "kind", "event"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "triage_job_seconds",
			Help: "Time a job took, without waiting.", Buckets: prometheus.ExponentialBuckets(.01, 4, 8)}, []string{"kind"}),
		failures: counter("triage_failures_total", "Failures by kind and stage (store, try, dead).", "kind", "stage"),
		answers:  counter("triage_answers_total", "Answers given by signature and certainty; signature \"none\" when nothing was known.", "via", "signature", "certainty"),
		feedback: counter("triage_feedback_total", "What people said of an answer.", "via", "signature", "verdict"),
		dropped:  counter("triage_dropped_total", "Answers that could not be delivered anywhere, and requests ignored, by reason.", "via", "reason"),
	}
	m.registry.MustRegister(m.requests, m.ack, m.jobs, m.seconds, m.failures, m.answers, m.feedback, m.dropped,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Handler serves the metrics in Prometheus's format.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
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

func (m *Metrics) received(kind string, duplicate bool) {
	event := "stored"
	if duplicate {
		event = "duplicate"
	}
	m.jobs.WithLabelValues(kind, event).Inc()
}

func (m *Metrics) done(job Job, started time.Time) {
	m.jobs.WithLabelValues(job.Kind, "done").Inc()
	m.seconds.WithLabelValues(job.Kind).Observe(time.Since(started).Seconds())
}

// watch adds the figures that are read from the store when they are asked for.
func (m *Metrics) watch(s *Store) {
	m.registry.MustRegister(&depths{store: s,
		jobs: prometheus.NewDesc("triage_queue_depth", "Jobs stored and not yet answered.", nil, nil),
		age:  prometheus.NewDesc("triage_queue_oldest_seconds", "Age of the oldest job not yet answered.", nil, nil),
		dead: prometheus.NewDesc("triage_dead_letters", "Jobs given up and waiting for an operator.", nil, nil)})
}

type depths struct {
	store           *Store
	jobs, age, dead *prometheus.Desc
}

func (d *depths) Describe(out chan<- *prometheus.Desc) { out <- d.jobs; out <- d.age; out <- d.dead }

func (d *depths) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	if info, err := d.store.jobs.Info(ctx); err == nil {
		age := 0.0
		if info.State.Msgs > 0 {
			age = time.Since(info.State.FirstTime).Seconds()
		}
		out <- prometheus.MustNewConstMetric(d.jobs, prometheus.GaugeValue, float64(info.State.Msgs))
		out <- prometheus.MustNewConstMetric(d.age, prometheus.GaugeValue, age)
	}
	if info, err := d.store.dead.Info(ctx); err == nil {
		out <- prometheus.MustNewConstMetric(d.dead, prometheus.GaugeValue, float64(info.State.Msgs))
	}
}
