package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"
)

// serveSettings are the settings of triage serve. Each is a flag and an environment variable.
type serveSettings struct {
	Listen, Data, NATS, PublicURL, AdminToken string
	MetricsListen, DiagnoseToken, SecretKey   string
	ForgetSecrets                             bool
	DiagnoseRate, StoreMiB                    int
	UserRate, RepositoryRate                  int
	SlackSecret, SlackBot, SlackApp, SlackAPI string
	SlackClient, SlackClientSecret            string
	SlackTeams                                []string
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
	s.addTexts(c)
	s.Rules.add(c)
	numbers := s.addNumbers(c)
	c.RunE = func(c *cobra.Command, _ []string) error {
		if err := numbers.settle(); err != nil {
			return err
		}
		if err := refuseEmpty(c); err != nil {
			return err
		}
		if err := s.check(); err != nil {
			return err
		}
		return serve(c.Context(), s, c.ErrOrStderr())
	}
	return c
}

// addTexts adds the flags for addresses, secrets and lists.
func (s *serveSettings) addTexts(c *cobra.Command) {
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
	text(&s.AdminToken, "admin-token", "TRIAGE_ADMIN_TOKEN", "", "opens /setup, and /dead, where work that failed for good waits")
	text(&s.SecretKey, "secret-key", "TRIAGE_SECRET_KEY", "", "seals stored tokens; NEW,OLD also opens what OLD sealed and seals it anew")
	text(&s.DiagnoseToken, "diagnose-token", "TRIAGE_DIAGNOSE_TOKEN", "", "opens /v1/diagnose; without it only the own machine may use it")
	text(&s.SlackSecret, "slack-signing-secret", "SLACK_SIGNING_SECRET", "", "turns on Slack over HTTP")
	text(&s.SlackBot, "slack-bot-token", "SLACK_BOT_TOKEN", "", "xoxb-..., to post, read files and open forms")
	text(&s.SlackApp, "slack-app-token", "SLACK_APP_TOKEN", "", "xapp-..., turns on Slack's Socket Mode")
	text(&s.SlackClient, "slack-client-id", "SLACK_CLIENT_ID", "", "lets workspaces install the app at /slack/install")
	text(&s.SlackClientSecret, "slack-client-secret", "SLACK_CLIENT_SECRET", "", "goes with it")
	text(&s.SlackAPI, "slack-api-url", "SLACK_API_URL", "", "Slack's API, when it is not Slack's own")
	text(&s.GitHubSecret, "github-webhook-secret", "GITHUB_WEBHOOK_SECRET", "", "turns on /github/webhook")
	text(&s.GitHubApp, "github-app-id", "GITHUB_APP_ID", "", "number of the GitHub App")
	text(&s.GitHubKey, "github-app-private-key-file", "GITHUB_APP_PRIVATE_KEY_FILE", "", "its private key, PEM")
	text(&s.GitHubToken, "github-token", "GITHUB_TOKEN", "", "a token, instead of an App")
	text(&s.GitHubAPI, "github-api-url", "GITHUB_API_URL", "", "GitHub's API, when it is not GitHub's own; used as it is")
	text(&s.Prometheus, "prometheus-url", "PROMETHEUS_URL", "", "where dcgm-exporter's metrics are")
	list := func(to *[]string, name, env, about string) {
		flags.StringSliceVar(to, name, split(os.Getenv(env)), about+" ("+env+")")
	}
	list(&s.Allow, "fetch-allow", "TRIAGE_FETCH_ALLOW", "further host[:port] to fetch logs from")
	list(&s.SlackTeams, "slack-teams", "TRIAGE_SLACK_TEAMS", "id of a workspace or organization that may install the app, else any may")
	flags.BoolVar(&s.ForgetSecrets, "forget-secrets", false, "delete stored tokens that TRIAGE_SECRET_KEY does not open")
}

// addNumbers adds the flags for times and counts. They hold once they are settled.
func (s *serveSettings) addNumbers(c *cobra.Command) (numbers settledLater) {
	numbers.span(c, &s.Lease, "lease", "TRIAGE_LEASE", "5s", "silence after which the work of a killed replica is taken over")
	numbers.span(c, &s.Debounce, "debounce", "TRIAGE_DEBOUNCE", "5s", "least time between two looks at one issue")
	numbers.count(c, &s.Attempts, "attempts", "TRIAGE_ATTEMPTS", "10", "failed tries after which work is given up")
	numbers.count(c, &s.Replicas, "nats-replicas", "TRIAGE_NATS_REPLICAS", "1", "copies that the NATS cluster keeps")
	numbers.count(c, &s.DiagnoseRate, "diagnose-rate", "TRIAGE_DIAGNOSE_RATE", "30", "logs a minute from one caller of /v1/diagnose; 0 for any number")
	numbers.count(c, &s.UserRate, "user-rate", "TRIAGE_USER_RATE", "0", "logs an hour for each person in Slack; 0 for 60 where workspaces install the app, else for any number")
	numbers.count(c, &s.RepositoryRate, "repository-rate", "TRIAGE_REPOSITORY_RATE", "0", "looks an hour at the issues of each repository on GitHub; 0 for any number")
	numbers.count(c, &s.StoreMiB, "store-mib", "TRIAGE_STORE_MIB", "1024", "most that work which waits may take on disk, and reports as well; at least 16")
	c.Flags().IntVar(&s.Workers, "workers", 4*runtime.GOMAXPROCS(0), "answers in the making at once, for Slack and GitHub each")
	return numbers
}

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
		"github-webhook-secret": "GITHUB_WEBHOOK_SECRET", "admin-token": "TRIAGE_ADMIN_TOKEN", "diagnose-token": "TRIAGE_DIAGNOSE_TOKEN",
		"secret-key": "TRIAGE_SECRET_KEY", "slack-client-secret": "SLACK_CLIENT_SECRET"} {
		value, set := os.LookupEnv(env)
		given := c.Flags().Lookup(flag)
		if set && strings.TrimSpace(value) == "" && !given.Changed || given.Changed && strings.TrimSpace(given.Value.String()) == "" {
			return fmt.Errorf("%s is empty: give the secret, or unset it to leave that door shut", env)
		}
	}
	return nil
}
