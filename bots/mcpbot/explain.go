package mcpbot

import (
	"context"
	"fmt"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gpu-triage/triage/rules"
	"github.com/gpu-triage/triage/rules/rulefile"
	"github.com/gpu-triage/triage/rules/signature"
)

func (s Server) explain(_ context.Context, _ *mcp.CallToolRequest, in explainArguments) (*mcp.CallToolResult, any, error) {
	base := s.Engine.Matcher.Base()
	if known := base.Signature(in.ID); known != nil {
		return text(explained(known)), nil, nil
	}
	rule, err := backendRule(base, in.ID)
	if err != nil {
		return nil, nil, err
	}
	if rule != "" {
		return text(rule), nil, nil
	}
	var ids []string
	for _, entry := range base.Entries {
		ids = append(ids, entry.ID)
	}
	said := fmt.Errorf("there is no failure %q", cut(in.ID, 80))
	if near := rulefile.Nearest(in.ID, ids); near != "" {
		said = fmt.Errorf("%w, did you mean %s?", said, near)
	}
	return nil, nil, said
}

// explained is what is known of a failure without a log.
func explained(s *signature.Signature) string {
	var out strings.Builder
	fmt.Fprintf(&out, "# %s\n\n%s (%s)\n\n%s\n", s.Title, s.ID, s.Family, strings.TrimSpace(s.Cause.Unfilled()))
	for i, fix := range s.Fixes {
		fmt.Fprintf(&out, "\n%d. %s\n", i+1, fix.Do.Unfilled())
		for _, command := range fix.Run {
			if line := command.Unfilled(); line != "" {
				fmt.Fprintf(&out, "   %s\n", line)
			}
		}
	}
	fmt.Fprintf(&out, "\nSources:\n- %s\n", strings.Join(s.References, "\n- "))
	return out.String()
}

// backendRule is what is known of the backend rule of that id, or "".
func backendRule(base *rules.Base, id string) (string, error) {
	libraries, err := base.Libraries()
	if err != nil {
		return "", err
	}
	for _, library := range libraries {
		for _, rule := range library.Rules() {
			if rule.ID == id {
				return fmt.Sprintf("%s, a backend rule of %s\n\n%s\n\nSource: %s\n", id, library.Name, rule.Because, rule.Source), nil
			}
		}
	}
	return "", nil
}
