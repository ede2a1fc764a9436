package githubbot

import (
	"context"
	"errors"
	"net/http"
	"strings"
)

// What GitHub's GraphQL interface alone can do.
// https://docs.github.com/graphql/reference/mutations#minimizecomment
const (
	foldQuery   = `mutation($id: ID!) { minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized } } }`
	unfoldQuery = `mutation($id: ID!) { unminimizeComment(input: {subjectId: $id}) { unminimizedComment { isMinimized } } }`
)

// fold minimises our comment as outdated, or shows again what was minimised so. Where GitHub does not let us, the comment stays as it is.
func (b *Bot) fold(ctx context.Context, s *snapshot, away bool) {
	if len(s.ours) == 0 || s.ours[0].GetNodeID() == "" || s.memory.Folded == away {
		return
	}
	query := unfoldQuery
	if away {
		query = foldQuery
	}
	if err := b.graphQL(ctx, s, query, map[string]any{"id": s.ours[0].GetNodeID()}); err != nil {
		b.Log.Info("a comment was not minimised, or not shown again", "repository", s.Repository, "number", s.Number, "error", err)
		return
	}
	s.memory.Folded = away
}

func (b *Bot) graphQL(ctx context.Context, s *snapshot, query string, variables map[string]any) error {
	path := "graphql"
	if strings.HasSuffix(b.api.Path, "/api/v3/") {
		path = "../graphql" // GitHub Enterprise
	}
	request, err := s.client.NewRequest(http.MethodPost, path, map[string]any{"query": query, "variables": variables})
	if err != nil {
		return err
	}
	var answer struct {
		Errors []struct {
			Message string `json:"message"`
		} `json:"errors"`
	}
	if _, err := s.client.Do(ctx, request, &answer); err != nil {
		return err
	}
	if len(answer.Errors) > 0 {
		return errors.New(answer.Errors[0].Message)
	}
	return nil
}
