package endtoend

import (
	"encoding/json"
	"net/http"
	"strconv"
	"strings"
)

// checkRun is a check run as the fake keeps it.
type checkRun struct {
	ID          int64  `json:"id"`
	Name        string `json:"name"`
	HeadSHA     string `json:"head_sha"`
	ExternalID  string `json:"external_id"`
	Status      string `json:"status"`
	Conclusion  string `json:"conclusion"`
	Output      shown  `json:"output"`
	annotations []annotation
}

type shown struct {
	Title       string       `json:"title"`
	Summary     string       `json:"summary"`
	Annotations []annotation `json:"annotations"`
	Count       int          `json:"annotations_count"`
}

type annotation struct {
	Path    string `json:"path"`
	Start   int    `json:"start_line"`
	End     int    `json:"end_line"`
	Level   string `json:"annotation_level"`
	Title   string `json:"title"`
	Message string `json:"message"`
}

// graphQL minimises comments and shows them again.
func (g *fakeGitHub) graphQL(w http.ResponseWriter, _ *http.Request, _ []string, body []byte) {
	var in struct {
		Query     string
		Variables struct{ ID string }
	}
	_ = json.Unmarshal(body, &in)
	for _, c := range g.comments {
		if c.Node != in.Variables.ID || c.Node == "" {
			continue
		}
		c.minimized = ""
		if strings.Contains(in.Query, " minimizeComment(") {
			_, rest, _ := strings.Cut(in.Query, "classifier: ")
			c.minimized, _, _ = strings.Cut(rest, "}")
		}
		answer(w, 200, map[string]any{"data": map[string]any{}})
		return
	}
	answer(w, 200, map[string]any{"errors": []map[string]any{{"type": "NOT_FOUND", "message": "Could not resolve to a node"}}})
}

func (g *fakeGitHub) listChecks(w http.ResponseWriter, r *http.Request, m []string, _ []byte) {
	list := []*checkRun{}
	for _, c := range g.checks {
		if c.HeadSHA == m[1] && (r.URL.Query().Get("check_name") == "" || r.URL.Query().Get("check_name") == c.Name) {
			list = append(list, c)
		}
	}
	answer(w, 200, map[string]any{"total_count": len(list), "check_runs": list})
}

func (g *fakeGitHub) createCheck(w http.ResponseWriter, _ *http.Request, _ []string, body []byte) {
	g.lastID++
	c := &checkRun{ID: g.lastID}
	if g.fill(w, c, body) {
		g.checks = append(g.checks, c)
		answer(w, 201, c)
	}
}

func (g *fakeGitHub) updateCheck(w http.ResponseWriter, _ *http.Request, m []string, body []byte) {
	for _, c := range g.checks {
		if strconv.FormatInt(c.ID, 10) == m[1] && g.fill(w, c, body) {
			answer(w, 200, c)
		}
	}
}

// fill takes a check run as strictly as GitHub does: at most 50 annotations, each on a line of a file by its path in the repository.
func (g *fakeGitHub) fill(w http.ResponseWriter, c *checkRun, body []byte) bool {
	c.Output.Annotations = nil
	if err := json.Unmarshal(body, c); err != nil || c.Name == "" || c.Output.Title == "" || c.Output.Summary == "" || len(c.Output.Summary) > 65_535 ||
		len(c.Output.Annotations) > 50 || c.Status == "completed" != (c.Conclusion != "") {
		refuse(w, http.StatusUnprocessableEntity, "Invalid request.")
		return false
	}
	for _, a := range c.Output.Annotations {
		if a.Path == "" || strings.HasPrefix(a.Path, "/") || a.Start < 1 || a.End < a.Start || a.Message == "" || a.Level != "failure" && a.Level != "warning" && a.Level != "notice" {
			refuse(w, http.StatusUnprocessableEntity, "Invalid annotation.")
			return false
		}
	}
	c.annotations = append(c.annotations, c.Output.Annotations...)
	c.Output.Count = len(c.annotations)
	return true
}

func (g *fakeGitHub) listTree(w http.ResponseWriter, _ *http.Request, _ []string, _ []byte) {
	entries := []map[string]any{}
	for _, path := range g.tree {
		entries = append(entries, map[string]any{"path": path, "type": "blob"})
	}
	answer(w, 200, map[string]any{"tree": entries, "truncated": false})
}
