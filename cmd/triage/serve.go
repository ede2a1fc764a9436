package main

import (
	"cmp"
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
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/queue"
	"github.com/gpu-triage/triage/bots/web"
)

// serveSettings are the settings of triage serve. Each is a flag and an environment variable.
type serveSettings struct {
	Listen, Data, NATS, PublicURL, AdminToken string
	MetricsListen, DiagnoseToken              string
	DiagnoseRate, StoreMiB                    int
	SlackSecret, SlackBot, SlackApp, SlackAPI string
	GitHubSecret, GitHubApp, GitHubKey        string
	GitHubToken, GitHubAPI, Prometheus        string
	Allow                                     []string
	Rules                                     ruleFlags
	Lease, Debounce                           time.Duration
	Attempts, Workers, Replicas               int
}

func newServe() *cobra.Command {
	var s serveSettings
	c := &cobra.Command{
		Use:   "serve",
		Short: "Answer in Slack, on GitHub and over HTTP",
		Long: "Answer in Slack, on GitHub and over HTTP. Each flag may be given as the environment variable named in its description;\n" +
			"secrets are better given there.",
		Args: cobra.NoArgs,
	}
	flags := c.Flags()
	text := func(to *string, name, env, standard, about string) {
		flags.StringVar(to, name, cmp.Or(os.Getenv(env), standard), about+" ("+env+")")
		if os.Getenv(env) != "" {
			flags.Lookup(name).DefValue = "set" // a secret must not show up in --help
		}
	}
	text(&s.Listen, "listen", "TRIAGE_LISTEN", "127.0.0.1:8080", "address to listen on")
	text(&s.MetricsListen, "metrics-listen", "TRIAGE_METRICS_LISTEN", "", "an address for /metrics, /healthz and /readyz alone; empty: /metrics is served with the rest")
	text(&s.Data, "data", "TRIAGE_DATA", "./triage-data", "folder of the embedded store and of downloads")
	text(&s.NATS, "nats-url", "NATS_URL", "", "a NATS cluster with JetStream that replicas share; empty: an embedded server")
	text(&s.PublicURL, "public-url", "TRIAGE_PUBLIC_URL", "", "where people reach this server, for links to /reports")
	text(&s.AdminToken, "admin-token", "TRIAGE_ADMIN_TOKEN", "", "opens /dead, where work that failed for good waits")
	text(&s.DiagnoseToken, "diagnose-token", "TRIAGE_DIAGNOSE_TOKEN", "", "opens /v1/diagnose; without it only the own machine may use it")
	text(&s.SlackSecret, "slack-signing-secret", "SLACK_SIGNING_SECRET", "", "turns on Slack over HTTP")
	text(&s.SlackBot, "slack-bot-token", "SLACK_BOT_TOKEN", "", "xoxb-..., to post, read files and open forms")
	text(&s.SlackApp, "slack-app-token", "SLACK_APP_TOKEN", "", "xapp-..., turns on Slack's Socket Mode")
	text(&s.SlackAPI, "slack-api-url", "SLACK_API_URL", "", "Slack's API, when it is not Slack's own")
	text(&s.GitHubSecret, "github-webhook-secret", "GITHUB_WEBHOOK_SECRET", "", "turns on /github/webhook")
	text(&s.GitHubApp, "github-app-id", "GITHUB_APP_ID", "", "number of the GitHub App")
	text(&s.GitHubKey, "github-app-private-key-file", "GITHUB_APP_PRIVATE_KEY_FILE", "", "its private key, PEM")
	text(&s.GitHubToken, "github-token", "GITHUB_TOKEN", "", "a token, instead of an App")
	text(&s.GitHubAPI, "github-api-url", "GITHUB_API_URL", "", "GitHub's API, when it is not GitHub's own; used as it is")
	text(&s.Prometheus, "prometheus-url", "PROMETHEUS_URL", "", "where dcgm-exporter's metrics are")
	allow := flags.StringSlice("fetch-allow", split(os.Getenv("TRIAGE_FETCH_ALLOW")), "further host[:port] to fetch logs from (TRIAGE_FETCH_ALLOW)")
	s.Rules.add(c)
	var numbers settledLater
	numbers.span(c, &s.Lease, "lease", "TRIAGE_LEASE", "5s", "silence after which the work of a killed replica is taken over")
	numbers.span(c, &s.Debounce, "debounce", "TRIAGE_DEBOUNCE", "5s", "least time between two looks at one issue")
	numbers.count(c, &s.Attempts, "attempts", "TRIAGE_ATTEMPTS", "10", "failed tries after which work is given up")
	numbers.count(c, &s.Replicas, "nats-replicas", "TRIAGE_NATS_REPLICAS", "1", "copies that the NATS cluster keeps")
	numbers.count(c, &s.DiagnoseRate, "diagnose-rate", "TRIAGE_DIAGNOSE_RATE", "30", "logs a minute from one caller of /v1/diagnose; 0 for any number")
	numbers.count(c, &s.StoreMiB, "store-mib", "TRIAGE_STORE_MIB", "1024", "most that work which waits may take on disk, and reports as well; at least 16")
	flags.IntVar(&s.Workers, "workers", 4*runtime.GOMAXPROCS(0), "answers in the making at once, for Slack and GitHub each")
	c.RunE = func(c *cobra.Command, _ []string) error {
		s.Allow = *allow
		if err := numbers.settle(); err != nil {
			return err
		}
		if s.StoreMiB < leastStore {
			return fmt.Errorf("--store-mib %d: at least %d", s.StoreMiB, leastStore)
		}
		if err := refuseEmpty(c); err != nil {
			return err
		}
		return serve(c.Context(), s, c.ErrOrStderr())
	}
	return c
}

// leastStore is the smallest store that is of use, in MiB.
const leastStore = 16

// settledLater are flags that are also environment variables, whose values are read when the command runs, so that what is wrong with one is
// said in words.
type settledLater []func() error

// span adds a flag for a time.
func (l *settledLater) span(c *cobra.Command, to *time.Duration, name, env, standard, about string) {
	text := c.Flags().String(name, cmp.Or(os.Getenv(env), standard), about+" ("+env+")")
	*l = append(*l, func() (err error) {
		*to, err = time.ParseDuration(*text)
		if err != nil {
			return fmt.Errorf("--%s %s: it is a time, as 5s, 2m or 1h", name, *text)
		}
		return nil
	})
}

// count adds a flag for a whole number.
func (l *settledLater) count(c *cobra.Command, to *int, name, env, standard, about string) {
	text := c.Flags().String(name, cmp.Or(os.Getenv(env), standard), about+" ("+env+")")
	*l = append(*l, func() (err error) {
		*to, err = strconv.Atoi(*text)
		if err != nil {
			return fmt.Errorf("--%s %s: it is a whole number, as %s", name, *text, standard)
		}
		return nil
	})
}

// settle reads the values. The error tells all that is wrong.
func (l settledLater) settle() error {
	var problems []error
	for _, read := range l {
		problems = append(problems, read())
	}
	return errors.Join(problems...)
}

func split(list string) []string {
	return strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' || r == '\n' })
}

// refuseEmpty refuses a secret that is set to nothing: what it should guard would stand open.
func refuseEmpty(c *cobra.Command) error {
	for flag, env := range map[string]string{"slack-signing-secret": "SLACK_SIGNING_SECRET", "slack-app-token": "SLACK_APP_TOKEN",
		"github-webhook-secret": "GITHUB_WEBHOOK_SECRET", "admin-token": "TRIAGE_ADMIN_TOKEN", "diagnose-token": "TRIAGE_DIAGNOSE_TOKEN"} {
		value, set := os.LookupEnv(env)
		given := c.Flags().Lookup(flag)
		if set && strings.TrimSpace(value) == "" && !given.Changed || given.Changed && strings.TrimSpace(given.Value.String()) == "" {
			return fmt.Errorf("%s is empty: give the secret, or unset it to leave that door shut", env)
		}
	}
	return nil
}

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
)

// server is a triage serve that is about to run.
type server struct {
	serveSettings
	log     *slog.Logger
	store   *queue.Store
	queue   *queue.Queue
	metrics *bots.Metrics
	engine  bots.Engine
	http    *web.Server
	work    []func(context.Context) error // runs until the context ends
	on      []any                         // for the line at the start
}

// serve runs until the context ends.
func serve(ctx context.Context, s serveSettings, stderr io.Writer) (err error) {
	v := &server{serveSettings: s, metrics: bots.NewMetrics(), log: slog.New(bots.RedactLog(slog.NewJSONHandler(stderr, nil)))}
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
	downloads, err := downloadFolder(filepath.Join(s.Data, "downloads"), s.NATS == "")
	if err != nil {
		return fmt.Errorf("TRIAGE_DATA: %w", err)
	}
	defer os.RemoveAll(downloads)
	v.queue = queue.New(v.store, v.metrics.Registry(), v.log, s.Attempts)
	v.http = &web.Server{Store: v.store, Queue: v.queue, Reports: bots.Reports{Store: v.store}, Metrics: v.metrics, Log: v.log, Data: downloads, AdminToken: s.AdminToken,
		Engine: v.engine.Apart(runtime.GOMAXPROCS(0)/2, postedTime), Spooled: bots.NewBudget(maxSpooled), Bodies: bots.NewBudget(maxBodies),
		DiagnoseToken: s.DiagnoseToken, PerMinute: s.DiagnoseRate,
		Handlers: map[string]http.Handler{}, MetricsApart: s.MetricsListen != ""}
	github, err := v.github(downloads)
	if err != nil {
		return err
	}
	if err := v.slack(downloads, github); err != nil {
		return err
	}
	return v.run(ctx)
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
	if v.MetricsListen != "" {
		metrics, err := net.Listen("tcp", v.MetricsListen)
		if err != nil {
			return fmt.Errorf("TRIAGE_METRICS_LISTEN: %w", err)
		}
		v.on = append(v.on, "metrics", metrics.Addr().String())
		v.work = append(v.work, func(ctx context.Context) error { return v.http.ServeMetrics(ctx, metrics, requestGrace) })
	}
	v.diagnose(listener.Addr())
	v.announce(listener.Addr())
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	failures := make(chan error, len(v.work)+1)
	start := func(f func(context.Context) error) {
		group.Go(func() {
			if err := f(ctx); err != nil && ctx.Err() == nil {
				failures <- err
				stop()
			}
		})
	}
	start(func(ctx context.Context) error { return v.http.Serve(ctx, listener, requestGrace) })
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
		admin = "on"
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
