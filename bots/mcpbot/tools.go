package mcpbot

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gpu-triage/triage/bots/fetch"
	"github.com/gpu-triage/triage/matcher/facts"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules/backend"
	"github.com/gpu-triage/triage/rules/history"
)

// Bounds of what comes in and what goes out, in bytes and characters.
const (
	maxLog    = 32 << 20
	maxAnswer = 12_000
	maxFacts  = 200
)

// logArguments say which log a call is about.
type logArguments struct {
	Log   string            `json:"log,omitempty" jsonschema:"the text of the log"`
	Path  string            `json:"path,omitempty" jsonschema:"instead of log, where the server runs on your machine: a file or folder of logs, plain, compressed or packed"`
	Facts map[string]string `json:"facts,omitempty" jsonschema:"what else is known, by name: torch 2.6.0, flash_attn none (not installed), env.NCCL_DEBUG INFO"`
}

type backendsArguments struct {
	Library string `json:"library,omitempty" jsonschema:"the library; without it, all are listed"`
	logArguments
}

type explainArguments struct {
	ID string `json:"id" jsonschema:"the id of a diagnosis or of a backend rule"`
}

type historyArguments struct {
	Name string `json:"name" jsonschema:"a name with its package, as transformers.AdamW; a package alone lists what is known of it"`
}

// tool is a tool that changes nothing and asks nobody.
func tool(name, description string) *mcp.Tool {
	return &mcp.Tool{Name: name, Description: description,
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(bool)}}
}

// diagnose answers with a page of Markdown for the model and the essence of the report for a program.
func (s Server) diagnose(ctx context.Context, _ *mcp.CallToolRequest, in logArguments) (*mcp.CallToolResult, *Answer, error) {
	logs, err := s.logs(in)
	if err != nil {
		return nil, nil, err
	}
	if len(logs) == 0 {
		return nil, nil, errors.New("there is no log: give its text in log, or its place in path")
	}
	answer, err := s.Engine.Answer(ctx, logs, in.Facts)
	if err != nil {
		return nil, nil, err
	}
	answer.Wrong = "" // a long link, and it is for people
	return text(render.Markdown(&answer, maxAnswer)), answerOf(answer), nil
}

// logs are those that a call names.
func (s Server) logs(in logArguments) ([]fetch.Log, error) {
	if len(in.Facts) > maxFacts {
		return nil, fmt.Errorf("%d facts are more than the %d that one call takes", len(in.Facts), maxFacts)
	}
	if _, complaints := s.Engine.Usable(in.Facts); len(complaints) > 0 {
		return nil, errors.New(strings.Join(complaints, "\n"))
	}
	switch {
	case in.Path != "" && s.Files == nil:
		return nil, errors.New("this server reads no files: give the text of the log in log")
	case in.Path != "" && in.Log != "":
		return nil, errors.New("give log or path, not both")
	case len(in.Log) > maxLog:
		return nil, fmt.Errorf("the log has %d bytes, more than the %d that one call takes: give its end", len(in.Log), maxLog)
	case in.Log != "":
		return []fetch.Log{{Name: "log", Text: []byte(in.Log)}}, nil
	case in.Path == "":
		return nil, nil
	}
	files, err := s.Files(in.Path)
	if err != nil {
		return nil, err
	}
	var logs []fetch.Log
	for _, file := range files {
		logs = append(logs, fetch.Log{Name: file, Path: file})
	}
	return logs, nil
}

func (s Server) backends(ctx context.Context, _ *mcp.CallToolRequest, in backendsArguments) (*mcp.CallToolResult, any, error) {
	base := s.Engine.Matcher.Base()
	if in.Library == "" {
		libraries, err := base.Libraries()
		return text(listed(libraries)), nil, err
	}
	library, err := base.Library(strings.ReplaceAll(in.Library, "-", "_"))
	if err != nil {
		return nil, nil, err
	}
	if library == nil {
		names, err := base.LibraryNames()
		return nil, nil, cmp.Or(err, fmt.Errorf("no backend rules for %q; there are those of %s", in.Library, strings.Join(names, ", ")))
	}
	known, err := facts.Said(library.Vocabulary(base.Vocabulary), in.Facts, "said")
	if err != nil {
		return nil, nil, err
	}
	in.Facts = nil // a library may have facts of its own, which were checked here
	logs, err := s.logs(in.logArguments)
	if err != nil {
		return nil, nil, err
	}
	choice, err := s.Engine.Choose(ctx, library, logs, known)
	if err != nil {
		return nil, nil, err
	}
	return text(report.Redact(render.Backends(choice, render.Style{Width: 120}))), nil, nil
}

// listed names libraries with the releases that their rules cover.
func listed(libraries []*backend.Library) string {
	var out strings.Builder
	for _, l := range libraries {
		releases := l.Releases()
		fmt.Fprintf(&out, "%s: %s, releases %s to %s\n", l.Name, l.Title, releases[0].Version, releases[len(releases)-1].Version)
	}
	return out.String()
}

func (s Server) history(_ context.Context, _ *mcp.CallToolRequest, in historyArguments) (*mcp.CallToolResult, any, error) {
	answer, err := history.Ask(in.Name)
	if err != nil {
		return nil, nil, err
	}
	return text(answer.Text()), nil, nil
}

// text is a result of bounded length.
func text(said string) *mcp.CallToolResult {
	if runes := []rune(said); len(runes) > maxAnswer {
		said = string(runes[:maxAnswer]) + "\n[cut]\n"
	}
	return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: said}}}
}
