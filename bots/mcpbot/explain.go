package mcpbot

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gpu-triage/triage/matcher/catalogue"
	"github.com/gpu-triage/triage/matcher/render"
)

func (s Server) explain(ctx context.Context, _ *mcp.CallToolRequest, in explainArguments) (*mcp.CallToolResult, any, error) {
	base := s.Engine.Matcher.Base()
	style := render.Style{Width: 120}
	if base.Signature(in.ID) == nil {
		libraries, err := base.Libraries()
		if err != nil {
			return nil, nil, err
		}
		if rule, library, found := catalogue.RuleOf(libraries, base.Vocabulary, in.ID); found {
			return text(render.ExplainRule(rule, library, style)), nil, nil
		}
	}
	page, err := catalogue.Of(ctx, s.Engine.Matcher, cut(in.ID, 80))
	if err != nil {
		return nil, nil, err
	}
	return text(render.Explain(page, style)), nil, nil
}
