package manifests

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpu-triage/triage/rules/rulefile"
)

// read reads the YAML documents of a file, in which a key that stands twice is a mistake.
func read(t *testing.T, file string) (documents []any) {
	t.Helper()
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for text := range strings.SplitSeq(string(content), "\n---\n") {
		var one any
		if err := rulefile.Decode(file, []byte(text), &one); err != nil {
			t.Fatal(err)
		}
		documents = append(documents, one)
	}
	return documents
}

// in is the part of a document at a path of keys, nil when there is none. A number is a place in a list.
func in(part any, path ...any) any {
	for _, step := range path {
		switch step := step.(type) {
		case string:
			mapping, _ := part.(map[string]any)
			part = mapping[step]
		case int:
			list, _ := part.([]any)
			if step >= len(list) {
				return nil
			}
			part = list[step]
		}
	}
	return part
}

// same compares a part of a document with what it should be.
func same(t *testing.T, document any, want any, path ...any) {
	t.Helper()
	got, _ := json.Marshal(in(document, path...))
	if wanted, _ := json.Marshal(want); string(got) != string(wanted) {
		t.Errorf("%v is %s, want %s", path, got, wanted)
	}
}

// need skips a test where a tool is missing or has nothing to work with.
func need(t *testing.T, command ...string) {
	t.Helper()
	if out, err := exec.Command(command[0], command[1:]...).CombinedOutput(); err != nil {
		t.Skipf("%s: %v\n%s", strings.Join(command, " "), err, out)
	}
}

func ran(t *testing.T, command *exec.Cmd) string {
	t.Helper()
	out, err := command.CombinedOutput()
	if err != nil {
		t.Errorf("%v: %v\n%s", command.Args, err, out)
	}
	return string(out)
}

func TestKubernetes(t *testing.T) {
	byKind := map[string]any{}
	for _, document := range read(t, "kubernetes.yaml") {
		kind, _ := in(document, "kind").(string)
		byKind[kind] = document
		same(t, document, "triage", "metadata", "name")
	}
	set := byKind["StatefulSet"]
	pod := in(set, "spec", "template", "spec")
	c := in(pod, "containers", 0)
	same(t, pod, true, "securityContext", "runAsNonRoot")
	same(t, pod, false, "automountServiceAccountToken")
	same(t, c, true, "securityContext", "readOnlyRootFilesystem")
	same(t, c, false, "securityContext", "allowPrivilegeEscalation")
	same(t, c, []string{"ALL"}, "securityContext", "capabilities", "drop")
	same(t, c, nil, "resources", "limits", "cpu")
	same(t, c, "/healthz", "livenessProbe", "httpGet", "path")
	same(t, c, "/readyz", "readinessProbe", "httpGet", "path")
	same(t, c, "/healthz", "startupProbe", "httpGet", "path")
	same(t, c, in(set, "spec", "volumeClaimTemplates", 0, "metadata", "name"), "volumeMounts", 0, "name")
	same(t, c, in(c, "volumeMounts", 0, "mountPath"), "env", 2, "value") // TRIAGE_DATA
	same(t, c, in(byKind["Secret"], "metadata", "name"), "envFrom", 0, "secretRef", "name")
	same(t, set, in(set, "spec", "template", "metadata", "labels"), "spec", "selector", "matchLabels")
	same(t, byKind["Service"], in(set, "spec", "selector", "matchLabels"), "spec", "selector")
	var open []string
	paths, _ := in(byKind["Ingress"], "spec", "rules", 0, "http", "paths").([]any)
	for _, p := range paths {
		path, _ := in(p, "path").(string)
		open = append(open, path)
	}
	same(t, open, []string{"/slack", "/github/webhook", "/reports", "/healthz"})
}

func TestKubernetesByItsTools(t *testing.T) {
	t.Run("kubeconform", func(t *testing.T) {
		need(t, "kubeconform", "-v")
		ran(t, exec.Command("kubeconform", "-strict", "kubernetes.yaml"))
	})
	t.Run("kubectl", func(t *testing.T) {
		need(t, "kubectl", "version") // it asks a cluster what there is
		ran(t, exec.Command("kubectl", "create", "--dry-run=client", "-f", "kubernetes.yaml"))
	})
}

func TestCompose(t *testing.T) {
	compose := read(t, "compose.yaml")[0]
	triage := in(compose, "services", "triage")
	same(t, triage, true, "read_only")
	same(t, triage, []string{"ALL"}, "cap_drop")
	same(t, triage, []string{"data:/data"}, "volumes")
	same(t, triage, "/data", "environment", "TRIAGE_DATA")
	ports, _ := in(triage, "ports").([]any)
	for _, port := range ports {
		if text, _ := port.(string); !strings.HasPrefix(text, "127.0.0.1:") {
			t.Errorf("strangers reach %s past the proxy", text)
		}
	}
	caddy, _ := in(compose, "configs", "caddyfile", "content").(string)
	for _, shut := range []string{"/metrics", "/dead", "/setup", "/v1"} {
		if strings.Contains(caddy, shut) {
			t.Errorf("the proxy lets %s through", shut)
		}
	}
	t.Run("docker compose", func(t *testing.T) {
		need(t, "docker", "compose", "version")
		dir := t.TempDir()
		content, err := os.ReadFile("compose.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for name, text := range map[string]string{"compose.yaml": string(content), "triage.env": "TRIAGE_ADMIN_TOKEN=x\n", ".env": "TRIAGE_HOST=triage.corp.net\n"} {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		command := exec.Command("docker", "compose", "config")
		command.Dir = dir
		if out := ran(t, command); !strings.Contains(out, "https://triage.corp.net") {
			t.Errorf("the host is not filled in:\n%s", out)
		}
	})
}

func TestSystemd(t *testing.T) {
	content, err := os.ReadFile("triage.service")
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(content), "\n")
	for _, want := range []string{"ExecStart=/usr/local/bin/triage serve", "EnvironmentFile=/etc/triage.env", "StateDirectory=triage", "Environment=TRIAGE_DATA=/var/lib/triage",
		"DynamicUser=yes", "NoNewPrivileges=yes", "ProtectSystem=strict"} {
		if !slices.Contains(lines, want) {
			t.Errorf("%s is missing", want)
		}
	}
	need(t, "systemd-analyze", "--version")
	unit := filepath.Join(t.TempDir(), "triage.service")
	here := strings.ReplaceAll(string(content), "/usr/local/bin/triage", "/bin/true") // which is not installed where the test runs
	if err := os.WriteFile(unit, []byte(here), 0o600); err != nil {
		t.Fatal(err)
	}
	if out := ran(t, exec.Command("systemd-analyze", "verify", "--man=no", unit)); strings.TrimSpace(out) != "" {
		t.Errorf("systemd says\n%s", out)
	}
	ran(t, exec.Command("systemd-analyze", "security", "--offline=true", "--threshold=20", unit)) // tenths, of 100 for a service with no bounds
}

func TestSlack(t *testing.T) {
	filled := Slack("https://triage.corp.net/")
	var manifest any
	if err := rulefile.Decode("slack.yaml", []byte(filled), &manifest); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(filled, Example) {
		t.Error("the example's address is left in the manifest")
	}
	same(t, manifest, "https://triage.corp.net/slack/events", "settings", "event_subscriptions", "request_url")
	same(t, manifest, SlackScopes(), "oauth_config", "scopes", "bot")
	same(t, manifest, []string{"https://triage.corp.net/slack/oauth"}, "oauth_config", "redirect_urls")
	if !slices.Contains(SlackScopes(), "groups:read") {
		t.Error("Slack does not tell that a channel is private without groups:read")
	}
	var bare any
	if err := rulefile.Decode("slack.yaml", []byte(Bare(filled)), &bare); err != nil {
		t.Fatal(err)
	}
	same(t, bare, manifest)
	if strings.Contains(Bare(filled), "#") {
		t.Errorf("comments are left in\n%s", Bare(filled))
	}
}

func TestGitHub(t *testing.T) {
	text, err := GitHubFor("https://a-server-with-a-long-name.corp.example.net", "http://localhost:8080/setup/github")
	if err != nil {
		t.Fatal(err)
	}
	var app GitHubApp
	if err := json.Unmarshal([]byte(text), &app); err != nil || len(app.Name) > maxName || app.Hook.URL != "https://a-server-with-a-long-name.corp.example.net/github/webhook" || app.Public {
		t.Errorf("%+v, %v", app, err)
	}
	if lacking := app.Lacking(app.Permissions, app.Events); len(lacking) > 0 {
		t.Errorf("the App of the manifest lacks %v", lacking)
	}
	less := map[string]string{"metadata": "read", "issues": "read", "contents": "write"}
	if lacking := app.Lacking(less, nil); !slices.Contains(lacking, "issues: write") || slices.Contains(lacking, "contents: read") || !slices.Contains(lacking, "event issues") {
		t.Errorf("it lacks %v", lacking)
	}
}
