package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/bots/web"
)

// How long a stop may take: the requests that have begun, then the work that has.
const (
	requestGrace = 10 * time.Second
	workGrace    = 20 * time.Second
)

// What strangers may take: the time of one posted log, and the bytes that posted logs and unchecked requests hold together.
const (
	postedTime = 30 * time.Second
	maxSpooled = 1 << 30
	maxBodies  = 64 << 20

	callerBurst = 10 // logs that one caller may post at once
)

// server is a triage serve that is about to run.
type server struct {
	serveSettings
	log     *slog.Logger
	store   *queue.Store
	vault   *queue.Vault // nil without TRIAGE_SECRET_KEY
	queue   *queue.Queue
	metrics *bots.Metrics
	engine  bots.Engine
	http    *web.Server
	work    []func(context.Context) error // runs until the context ends
	on      []any                         // for the line at the start
	checks  []check
	given   struct{ slack, github bool } // in the settings, so that what /setup stored does not count
	again   chan struct{}                // gets a value when the server is to start anew, with what was stored meanwhile
}

// errAgain says that the server is to start anew.
var errAgain = errors.New("start anew")

// serve runs until the context ends.
func serve(ctx context.Context, s serveSettings, stderr io.Writer) error {
	for {
		if err := serveOnce(ctx, &s, stderr); !errors.Is(err, errAgain) {
			return err
		}
	}
}

// serveOnce runs until the context ends or the server is to start anew, at the addresses that it then has in s.
func serveOnce(ctx context.Context, s *serveSettings, stderr io.Writer) (err error) {
	v := &server{serveSettings: *s, again: make(chan struct{}, 1), metrics: bots.NewMetrics(), log: slog.New(bots.RedactLog(slog.NewJSONHandler(stderr, nil)))}
	files, err := s.Rules.files()
	if err != nil {
		return err
	}
	v.engine, err = bots.NewEngine(files...)
	if err != nil {
		return err
	}
	v.engine.Log = v.log
	v.prometheus()
	v.store, err = queue.Open(ctx, queue.Options{Dir: filepath.Join(s.Data, "store"), URL: s.NATS, Replicas: s.Replicas, Bytes: int64(s.StoreMiB) << 20, Lease: s.Lease, Log: v.log})
	if err != nil {
		return err
	}
	defer v.store.Close()
	if err := v.stored(ctx); err != nil {
		return err
	}
	downloads, err := downloadFolder(filepath.Join(s.Data, "downloads"), s.NATS == "")
	if err != nil {
		return fmt.Errorf("TRIAGE_DATA: %w", err)
	}
	defer os.RemoveAll(downloads)
	v.queue = queue.New(v.store, v.metrics.Registry(), v.log, s.Attempts)
	v.http = &web.Server{Store: v.store, Queue: v.queue, Reports: bots.Reports{Store: v.store}, Recurrence: bots.Recurrence{Store: v.store, Metrics: v.metrics}, Metrics: v.metrics, Log: v.log, Data: downloads, AdminToken: s.AdminToken,
		Engine: v.engine.Apart(runtime.GOMAXPROCS(0)/2, postedTime), Spooled: bots.NewBudget(maxSpooled), Bodies: bots.NewBudget(maxBodies),
		DiagnoseToken: s.DiagnoseToken, Callers: bots.NewLimits(s.DiagnoseRate, time.Minute, callerBurst),
		Handlers: map[string]http.Handler{}, MetricsApart: s.MetricsListen != "", Setup: v.setup()}
	github, err := v.github(ctx, downloads)
	if err != nil {
		return err
	}
	if err := v.slack(downloads, github); err != nil {
		return err
	}
	if err := v.ask(ctx); err != nil {
		return err
	}
	err = v.run(ctx)
	s.Listen, s.MetricsListen = v.Listen, v.MetricsListen
	return err
}

// downloadFolder makes a folder of our own for downloads. Alone says that no other process uses parent, so that what killed ones left
// there can go.
func downloadFolder(parent string, alone bool) (string, error) {
	if alone {
		if err := os.RemoveAll(parent); err != nil {
			return "", err
		}
	}
	if err := os.MkdirAll(parent, 0o700); err != nil {
		return "", err
	}
	return os.MkdirTemp(parent, "process")
}

// run serves and works until the context ends, then lets what has begun end.
func (v *server) run(ctx context.Context) error {
	listener, err := net.Listen("tcp", v.Listen)
	if err != nil {
		return fmt.Errorf("TRIAGE_LISTEN: %w", err)
	}
	v.Listen = listener.Addr().String() // where a port was left open
	if v.MetricsListen != "" {
		metrics, err := net.Listen("tcp", v.MetricsListen)
		if err != nil {
			return fmt.Errorf("TRIAGE_METRICS_LISTEN: %w", err)
		}
		v.MetricsListen = metrics.Addr().String()
		v.on = append(v.on, "metrics", v.MetricsListen)
		v.work = append(v.work, func(ctx context.Context) error { return v.http.ServeMetrics(ctx, metrics, requestGrace) })
	}
	v.diagnose(listener.Addr())
	v.announce(listener.Addr())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	failures := make(chan error, len(v.work)+2)
	start := func(f func(context.Context) error) {
		group.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				failures <- err
				stop()
			}
		})
	}
	start(func(ctx context.Context) error { return v.http.Serve(ctx, listener, requestGrace) })
	start(v.anew)
	for _, f := range v.work {
		start(f)
	}
	group.Wait()
	v.log.Info("stopped")
	select {
	case err := <-failures:
		return err
	default:
		return nil
	}
}

// anew waits until the server is to start anew.
func (v *server) anew(ctx context.Context) error {
	select {
	case <-v.again:
		v.log.Info("starts anew with what was stored")
		return errAgain
	case <-ctx.Done():
		return nil
	}
}

// diagnose opens /v1/diagnose to those who bring the token, or without one to this machine.
func (v *server) diagnose(at net.Addr) {
	tcp, ok := at.(*net.TCPAddr)
	v.http.Local = ok && tcp.IP.IsLoopback()
	state := "on, with the token"
	switch {
	case v.DiagnoseToken == "" && v.http.Local:
		state = "on, for this machine"
	case v.DiagnoseToken == "":
		state = "off: TRIAGE_DIAGNOSE_TOKEN is missing, and others than this machine can reach the address"
	}
	v.on = append(v.on, "diagnose", state)
}

// announce says what is on, what is missing, and what waits from before.
func (v *server) announce(at net.Addr) {
	store := "embedded in " + v.Data
	if v.NATS != "" {
		store = "NATS cluster"
	}
	admin := "off: TRIAGE_ADMIN_TOKEN is missing"
	if v.AdminToken != "" {
		admin = "on, and the setup at http://" + at.String() + "/setup"
	}
	v.log.Info("triage serves", append([]any{"address", at.String(), "store", store, "admin", admin}, v.on...)...)
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	dead, err := v.queue.Dead(ctx, 20)
	if err != nil {
		return
	}
	for _, d := range dead {
		v.log.Warn("given up earlier", "sequence", d.Sequence, "kind", d.Job.Kind, "delivery", d.Job.ID, "key", d.Job.Key, "reason", d.Reason)
	}
}
