package githubbot

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path"
	"strings"
	"testing/fstest"
	"time"

	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/rulefile"

	"github.com/google/go-github/v60/github"

	"github.com/gpu-triage/triage/bots"
)

// settings are what a repository says in .github/triage.yml on its default branch.
type settings struct {
	Enabled      bool     `yaml:"enabled"`
	Certainty    string   `yaml:"certainty"`     // the least: "likely" or "confirmed"
	Labels       []string `yaml:"labels"`        // set on an issue that is answered
	Rules        []string `yaml:"rules"`         // folders or files of further signatures in the repository
	WorkflowRuns bool     `yaml:"workflow_runs"` // answer failed runs of pull requests without being asked
	Checks       bool     `yaml:"checks"`        // a check run for failed runs of which the cause is known
}

const (
	settingsFile  = ".github/triage.yml"
	rulesTime     = time.Minute // after this they are read again
	maxRuleFiles  = 50
	maxRulesBytes = 1 << 20
)

// cachedSettings are a repository's settings, with the engine that knows its rules, or what is wrong with them. What is wrong silences us
// until somebody asks: the file may say that nothing is wanted.
type cachedSettings struct {
	settings
	content string
	engine  bots.Engine
	wrong   error
	read    time.Time // when the rules were
}

// mistake says in words why the settings of a repository cannot be followed. Its cause, where GitHub said one, is for the log.
type mistake struct {
	words string
	cause error
}

func (m mistake) Error() string { return m.words }

// settings reads a repository's settings, each time anew, so that what they switch off is off at once; its rules are kept for a minute. A
// mistake in them is not an error of this: it stands in the result.
func (b *Bot) settings(ctx context.Context, c *github.Client, repository string) (cachedSettings, error) {
	s := cachedSettings{settings: settings{Enabled: true, Checks: true, Certainty: string(report.Likely)}, engine: b.Engine, read: time.Now()}
	err := b.readSettings(ctx, c, repository, &s)
	var wrong mistake
	if errors.As(err, &wrong) {
		s.wrong = wrong
		b.Log.Warn("a repository's settings cannot be followed", "repository", repository, "error", wrong.words, "cause", wrong.cause)
		return s, nil
	}
	return s, judge(err)
}

func (b *Bot) readSettings(ctx context.Context, c *github.Client, repository string, s *cachedSettings) (err error) {
	s.content, err = b.file(ctx, c, repository, settingsFile)
	if err != nil {
		return err
	}
	if err := s.parse(s.content); err != nil {
		return mistake{words: err.Error()}
	}
	if len(s.Rules) == 0 {
		return nil
	}
	return b.extend(ctx, c, repository, s)
}

// extend gives settings an engine that knows the repository's own rules.
func (b *Bot) extend(ctx context.Context, c *github.Client, repository string, s *cachedSettings) error {
	b.mu.Lock()
	known, ok := b.configs[repository]
	b.mu.Unlock()
	if ok && known.content == s.content && time.Since(known.read) < rulesTime {
		s.engine = known.engine
		return nil
	}
	extra, err := b.rules(ctx, c, repository, s.Rules)
	if err != nil {
		return err
	}
	extended, err := b.Engine.With(extra)
	if err != nil {
		return mistake{words: err.Error()}
	}
	s.engine = extended
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.configs) > 10_000 {
		clear(b.configs)
	}
	b.configs[repository] = *s
	return nil
}

func (s *settings) parse(content string) error {
	meaningful := false
	for line := range strings.Lines(content) {
		text, _, _ := strings.Cut(line, "#")
		meaningful = meaningful || strings.TrimSpace(text) != ""
	}
	if !meaningful {
		return nil
	}
	if err := rulefile.Decode(settingsFile, []byte(content), s); err != nil {
		return err
	}
	if s.Certainty != string(report.Likely) && s.Certainty != string(report.Confirmed) {
		return fmt.Errorf("%s: certainty is %q, it can be likely or confirmed", settingsFile, s.Certainty)
	}
	if len(s.Labels) > 10 || len(s.Rules) > maxRuleFiles {
		return fmt.Errorf("%s: at most 10 labels and %d paths of rules", settingsFile, maxRuleFiles)
	}
	return nil
}

// file reads a file of the default branch; "" when there is none.
func (b *Bot) file(ctx context.Context, c *github.Client, repository, name string) (string, error) {
	owner, repo := ownerOf(repository)
	content, _, _, err := c.Repositories.GetContents(ctx, owner, repo, name, nil)
	switch {
	case isStatus(err, http.StatusNotFound):
		return "", nil
	case err != nil:
		return "", refusedFile(name, err)
	case content == nil || content.GetType() != "file" && content.GetType() != "":
		return "", mistake{words: name + ": it is no file"}
	}
	return textOf(name, content)
}

// textOf is the text of a file.
func textOf(name string, content *github.RepositoryContent) (string, error) {
	text, err := content.GetContent()
	if err != nil || text == "" && content.GetSize() > 0 {
		return "", mistake{name + ": GitHub gives no text of it: it may be larger than a megabyte", err}
	}
	return text, nil
}

// refusedFile makes a mistake of an error that another try does not mend.
func refusedFile(name string, err error) error {
	var refused *github.ErrorResponse
	if !errors.As(err, &refused) || refused.Response == nil {
		return err
	}
	switch code := refused.Response.StatusCode; {
	case code == http.StatusForbidden:
		return mistake{name + ": I may not read it. Give the App, or the token, the permission to read contents", err}
	case code < 400 || code >= 500 || code == http.StatusUnauthorized || code == http.StatusRequestTimeout:
		return err
	}
	return mistake{name + ": GitHub does not let me read it", err}
}

// rules reads the further signatures of a repository.
func (b *Bot) rules(ctx context.Context, c *github.Client, repository string, paths []string) (fs.FS, error) {
	owner, repo := ownerOf(repository)
	found, total := fstest.MapFS{}, 0
	for len(paths) > 0 && len(found) < maxRuleFiles && total < maxRulesBytes {
		name := strings.Trim(path.Clean("/"+paths[0]), "/")
		paths = paths[1:]
		one, folder, _, err := c.Repositories.GetContents(ctx, owner, repo, name, nil)
		if isStatus(err, http.StatusNotFound) {
			continue
		}
		if err != nil {
			return nil, refusedFile(name, err)
		}
		if one == nil {
			for _, entry := range folder {
				if entry.GetType() == "dir" || strings.HasSuffix(entry.GetName(), ".yaml") || strings.HasSuffix(entry.GetName(), ".yml") {
					paths = append(paths, entry.GetPath())
				}
			}
			continue
		}
		text, err := textOf(name, one)
		if err != nil {
			return nil, err
		}
		total += len(text)
		found[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return found, nil
}
