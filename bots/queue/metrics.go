package queue

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// metrics is what an operator watches of a queue.
type metrics struct {
	jobs     *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	failures *prometheus.CounterVec
}

func newMetrics(registry prometheus.Registerer, store *Store) *metrics {
	m := &metrics{
		jobs: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "triage_jobs_total",
			Help: "Jobs by kind and event (stored, duplicate, done)."}, []string{"kind", "event"}),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: "triage_job_seconds",
			Help: "Time a job took, without waiting.", Buckets: prometheus.ExponentialBuckets(.01, 4, 8)}, []string{"kind"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{Name: "triage_failures_total",
			Help: "Failures by kind and stage (store, try, dead)."}, []string{"kind", "stage"}),
	}
	registry.MustRegister(m.jobs, m.seconds, m.failures, &depths{store: store,
		jobs:    prometheus.NewDesc("triage_queue_depth", "Jobs stored and not yet answered.", nil, nil),
		age:     prometheus.NewDesc("triage_queue_oldest_seconds", "Age of the oldest job not yet answered.", nil, nil),
		dead:    prometheus.NewDesc("triage_dead_letters", "Jobs given up and waiting for an operator.", nil, nil),
		damaged: prometheus.NewDesc("triage_store_damaged_files_total", "Files of the store that were found damaged and put aside.", nil, nil),
		lost:    prometheus.NewDesc("triage_store_lost_total", "Messages of the store, among them jobs, that were lost in damaged files, as far as can be told.", nil, nil),
		open:    prometheus.NewDesc("triage_store_writable", "1 while new work can be stored, 0 on a full disk, with a full queue, or after a write that failed.", nil, nil)})
	return m
}

func (m *metrics) received(kind string, duplicate bool) {
	event := "stored"
	if duplicate {
		event = "duplicate"
	}
	m.jobs.WithLabelValues(kind, event).Inc()
}

func (m *metrics) done(job Job, started time.Time) {
	m.jobs.WithLabelValues(job.Kind, "done").Inc()
	m.seconds.WithLabelValues(job.Kind).Observe(time.Since(started).Seconds())
}

// depths are the figures that are read from the store when they are asked for.
type depths struct {
	store                                *Store
	jobs, age, dead, open, damaged, lost *prometheus.Desc
}

func (d *depths) Describe(out chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{d.jobs, d.age, d.dead, d.open, d.damaged, d.lost} {
		out <- one
	}
}

func (d *depths) Collect(out chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	out <- prometheus.MustNewConstMetric(d.damaged, prometheus.CounterValue, float64(d.store.damage.files.Load()))
	out <- prometheus.MustNewConstMetric(d.lost, prometheus.CounterValue, float64(d.store.damage.lost.Load()))
	open := 0.0
	if info, err := d.store.jobs.Info(ctx); err == nil {
		if d.store.Writable() == nil && fits(info) == nil {
			open = 1
		}
		age := 0.0
		if info.State.Msgs > 0 {
			age = time.Since(info.State.FirstTime).Seconds()
		}
		out <- prometheus.MustNewConstMetric(d.jobs, prometheus.GaugeValue, float64(info.State.Msgs))
		out <- prometheus.MustNewConstMetric(d.age, prometheus.GaugeValue, age)
	}
	out <- prometheus.MustNewConstMetric(d.open, prometheus.GaugeValue, open)
	if info, err := d.store.dead.Info(ctx); err == nil {
		out <- prometheus.MustNewConstMetric(d.dead, prometheus.GaugeValue, float64(info.State.Msgs))
	}
}

func (m *metrics) failed(kind, stage string) { m.failures.WithLabelValues(kind, stage).Inc() }
