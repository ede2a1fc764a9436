package githubbot

import (
	"context"
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
	"github.com/gpu-triage/triage/bots/queue"
)

// settings are what a repository says in .github/triage.yml on its default branch.
type settings struct {
	Enabled      bool     `yaml:"enabled"`
	Certainty    string   `yaml:"certainty"`     // the least: "likely" or "confirmed"
	Labels       []string `yaml:"labels"`        // set on an issue that is answered
	Rules        []string `yaml:"rules"`         // folders or files of further signatures in the repository
	WorkflowRuns bool     `yaml:"workflow_runs"` // answer failed runs of pull requests without being asked
}

const (
	settingsFile  = ".github/triage.yml"
	settingsTime  = time.Minute // after this they are read again
	maxRuleFiles  = 50
	maxRulesBytes = 1 << 20
)

// cachedSettings are a repository's settings, with the engine that knows its rules, or what is wrong with them.
type cachedSettings struct {
	settings
	engine bots.Engine
	wrong  error
	read   time.Time
}

// settings reads a repository's settings. A mistake in them is not an error of this: it stands in the result.
func (b *Bot) settings(ctx context.Context, c *github.Client, repository string) (cachedSettings, error) {
	b.mu.Lock()
	known, ok := b.configs[repository]
	b.mu.Unlock()
	if ok && time.Since(known.read) < settingsTime {
		return known, nil
	}
	s := cachedSettings{settings: settings{Enabled: true, Certainty: string(report.Likely)}, engine: b.Engine, read: time.Now()}
	content, err := b.file(ctx, c, repository, settingsFile)
	if err != nil {
		return s, err
	}
	if s.wrong = s.parse(content); s.wrong == nil && len(s.Rules) > 0 {
		var extra fs.FS
		if extra, err = b.rules(ctx, c, repository, s.Rules); err != nil {
			return s, err
		}
		if extended, wrong := b.Engine.With(extra); wrong == nil {
			s.engine = extended
		} else {
			s.wrong = wrong
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.configs) > 10_000 {
		clear(b.configs)
	}
	b.configs[repository] = s
	return s, nil
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
	owner, repo, _ := strings.Cut(repository, "/")
	content, _, _, err := c.Repositories.GetContents(ctx, owner, repo, name, nil)
	if isStatus(err, http.StatusNotFound, http.StatusForbidden) {
		return "", nil
	}
	if err != nil {
		return "", judge(err)
	}
	if content == nil {
		return "", nil
	}
	text, err := content.GetContent()
	if err != nil {
		return "", queue.Permanent(fmt.Errorf("%s of %s: %w", name, repository, err))
	}
	return text, nil
}

// rules reads the further signatures of a repository.
func (b *Bot) rules(ctx context.Context, c *github.Client, repository string, paths []string) (fs.FS, error) {
	owner, repo, _ := strings.Cut(repository, "/")
	found, total := fstest.MapFS{}, 0
	for len(paths) > 0 && len(found) < maxRuleFiles && total < maxRulesBytes {
		name := strings.Trim(path.Clean("/"+paths[0]), "/")
		paths = paths[1:]
		one, folder, _, err := c.Repositories.GetContents(ctx, owner, repo, name, nil)
		if isStatus(err, http.StatusNotFound) {
			continue
		}
		if err != nil {
			return nil, judge(err)
		}
		if one == nil {
			for _, entry := range folder {
				if entry.GetType() == "dir" || strings.HasSuffix(entry.GetName(), ".yaml") || strings.HasSuffix(entry.GetName(), ".yml") {
					paths = append(paths, entry.GetPath())
				}
			}
			continue
		}
		text, err := one.GetContent()
		if err != nil {
			return nil, queue.Permanent(fmt.Errorf("%s of %s: %w", name, repository, err))
		}
		total += len(text)
		found[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return found, nil
}
