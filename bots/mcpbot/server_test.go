package mcpbot_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/mcpbot"
	"github.com/gpu-triage/triage/rules"
)

var engine = sync.OnceValues(func() (bots.Engine, error) { return bots.NewEngine(rules.Shipped()) })

func newServer(t *testing.T) mcpbot.Server {
	t.Helper()
	e, err := engine()
	if err != nil {
		t.Fatal(err)
	}
	return mcpbot.Server{Engine: e}
}

// connect is a client of the server, in this process.
func connect(t *testing.T, server mcpbot.Server) *mcp.ClientSession {
	t.Helper()
	here, there := mcp.NewInMemoryTransports()
	if _, err := server.Protocol().Connect(t.Context(), there, nil); err != nil {
		t.Fatal(err)
	}
	return open(t, here)
}

func open(t *testing.T, transport mcp.Transport) *mcp.ClientSession {
	t.Helper()
	session, err := mcp.NewClient(&mcp.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), transport, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = session.Close() })
	return session
}

// call returns the text of a result, and whether the tool failed.
func call(t *testing.T, session *mcp.ClientSession, tool string, arguments map[string]any) (*mcp.CallToolResult, string) {
	t.Helper()
	result, err := session.CallTool(t.Context(), &mcp.CallToolParams{Name: tool, Arguments: arguments})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	if len(result.Content) == 0 {
		t.Fatalf("%s said nothing", tool)
	}
	said, ok := result.Content[0].(*mcp.TextContent)
	if !ok {
		t.Fatalf("%s said %T", tool, result.Content[0])
	}
	return result, said.Text
}

const log = `step 1 loss 2.31
Traceback (most recent call last):
  File "/srv/train.py", line 3, in <module>
    import flash_attn
ModuleNotFoundError: No module named 'flash_attn'
`

func TestTools(t *testing.T) {
	session := connect(t, newServer(t))
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	if !slices.Equal(names, []string{"backends", "diagnose", "explain", "history"}) {
		t.Errorf("the tools are %v", names)
	}
	for _, test := range []struct {
		tool      string
		arguments map[string]any
		want      string
		fails     bool
	}{
		{"diagnose", map[string]any{"log": log}, "flash-attn", false},
		{"diagnose", map[string]any{"log": log, "facts": map[string]string{"torch": "2.6.0"}}, "2.6.0", false},
		{"diagnose", map[string]any{"log": "step 1 loss 2.3\n"}, "No failure found", false},
		{"diagnose", map[string]any{}, "there is no log", true},
		{"diagnose", map[string]any{"log": log, "facts": map[string]string{"torhc": "1"}}, "torhc", true},
		{"diagnose", map[string]any{"path": "/etc/passwd"}, "reads no files", true},
		{"backends", map[string]any{}, "transformer_engine: ", false},
		{"backends", map[string]any{"library": "transformer-engine", "facts": map[string]string{"transformer_engine": "2.3.0", "sm": "80"}}, "FusedAttention", false},
		{"backends", map[string]any{"library": "nothing"}, "transformer_engine", true},
		{"explain", map[string]any{"id": "flash-attn-not-usable"}, "what it is not", false},
		{"explain", map[string]any{"id": "flash-attn-not-usabel"}, "did you mean flash-attn-not-usable", true},
		{"history", map[string]any{"name": "transformers.AdamW"}, "transformers", false},
		{"history", map[string]any{"name": "nosuchpackage.Thing"}, "is not covered", true},
	} {
		result, said := call(t, session, test.tool, test.arguments)
		if result.IsError != test.fails || !strings.Contains(said, test.want) {
			t.Errorf("%s %v failed %v and said %s, not %q", test.tool, test.arguments, result.IsError, said, test.want)
		}
	}
}

func TestDiagnoseGivesAProgramItsEssence(t *testing.T) {
	result, _ := call(t, connect(t, newServer(t)), "diagnose", map[string]any{"log": log})
	encoded, err := json.Marshal(result.StructuredContent)
	if err != nil {
		t.Fatal(err)
	}
	var answer mcpbot.Answer
	if err := json.Unmarshal(encoded, &answer); err != nil || len(answer.Diagnoses) == 0 || answer.Knowledge == "" || answer.Lines != 5 {
		t.Fatalf("%v: %s", err, encoded)
	}
	root := answer.Diagnoses[0]
	if root.ID != "flash-attn-imported" || root.Evidence[0].Line != 5 || len(root.Fixes) == 0 {
		t.Errorf("%s", encoded)
	}
}

// TestBounds: whatever a log holds, an answer is short.
func TestBounds(t *testing.T) {
	session := connect(t, newServer(t))
	for name, text := range map[string]string{
		"a long message":  "Traceback (most recent call last):\n  File \"a.py\", line 1, in <module>\nRuntimeError: " + strings.Repeat("CUDA out of memory. ", 50_000) + "\n",
		"many exceptions": strings.Repeat(strings.Replace(log, "flash_attn'", "some_other_module'", 1), 2000),
	} {
		result, said := call(t, session, "diagnose", map[string]any{"log": text})
		encoded, err := json.Marshal(result)
		if err != nil || len([]rune(said)) > 13_000 || len(encoded) > 80_000 {
			t.Errorf("%s: %d characters, %d bytes, %v", name, len([]rune(said)), len(encoded), err)
		}
	}
}

func TestFiles(t *testing.T) {
	server := newServer(t)
	server.Files = func(path string) ([]string, error) { return []string{path}, nil }
	file := filepath.Join(t.TempDir(), "train.log")
	if err := os.WriteFile(file, []byte(log), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, said := call(t, connect(t, server), "diagnose", map[string]any{"path": file}); !strings.Contains(said, "train.log:5") {
		t.Error(said)
	}
}

func TestSecretsStay(t *testing.T) {
	secret := "hf_" + strings.Repeat("aBcDeFgHiJ", 3) + "kLmN"
	result, _ := call(t, connect(t, newServer(t)), "diagnose", map[string]any{"log": strings.Replace(log, "'flash_attn'", "'flash_attn' HF_TOKEN="+secret, 1)})
	if encoded, err := json.Marshal(result); err != nil || strings.Contains(string(encoded), secret) {
		t.Errorf("%v: %s", err, encoded)
	}
}

func TestHTTP(t *testing.T) {
	web := httptest.NewServer(newServer(t).Handler())
	defer web.Close()
	session := open(t, &mcp.StreamableClientTransport{Endpoint: web.URL, HTTPClient: web.Client()})
	if _, said := call(t, session, "diagnose", map[string]any{"log": log}); !strings.Contains(said, "flash-attn") {
		t.Error(said)
	}
	for header, value := range map[string]string{"Origin": "https://evil.example", "Host": "evil.example"} {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, web.URL, strings.NewReader(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			t.Fatal(err)
		}
		request.Header.Set("Content-Type", "application/json")
		request.Header.Set("Accept", "application/json, text/event-stream")
		request.Header.Set(header, value)
		if header == "Host" {
			request.Host = value
		}
		response, err := web.Client().Do(request)
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if response.StatusCode != http.StatusForbidden {
			t.Errorf("%s: %s is answered with %s", header, value, response.Status)
		}
	}
}
