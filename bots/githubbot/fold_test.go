package githubbot

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
)

// GitHub Enterprise has its GraphQL interface beside the one that GITHUB_API_URL names.
func TestGraphQLIsFound(t *testing.T) {
	for base, want := range map[string]string{"": "/graphql", "/api/v3": "/api/graphql"} {
		asked := ""
		api := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			asked = r.Method + " " + r.URL.Path
			fmt.Fprint(w, `{"errors":[{"message":"no such comment"}]}`)
		}))
		b, err := New(Config{APIURL: api.URL + base, Token: "x"})
		if err != nil {
			t.Fatal(err)
		}
		err = b.graphQL(context.Background(), &snapshot{client: b.client(0)}, foldQuery, map[string]any{"id": "IC_1"})
		api.Close()
		if asked != "POST "+want || err == nil {
			t.Errorf("%q: %s, %v", base, asked, err)
		}
	}
}
