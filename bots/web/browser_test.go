package web

import (
	"context"
	"log/slog"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/matcher/render"
	"github.com/gpu-triage/triage/matcher/report"
	"github.com/gpu-triage/triage/rules"
)

// browser starts Chromium, without which the test is skipped. TRIAGE_SHOTS names a folder for pictures of what it shows.
func browser(t *testing.T) context.Context {
	t.Helper()
	program := ""
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			program = found
			break
		}
	}
	if program == "" {
		t.Skip("no Chromium is installed, so nobody looks at the pages")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)
	ctx, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, stop = chromedp.NewContext(ctx)
	t.Cleanup(stop)
	ctx, stop = context.WithTimeout(ctx, time.Minute)
	t.Cleanup(stop)
	do(ctx, t, chromedp.EmulateViewport(390, 844)) // a phone
	return ctx
}

// do runs an action of the browser.
func do[T any](ctx context.Context, t *testing.T, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// until waits up to the context's end for a condition in JavaScript. A page that is just left for the next one does not answer.
func until(ctx context.Context, t *testing.T, condition string) {
	t.Helper()
	for {
		holds, err := chromedp.Run(ctx, chromedp.Evaluate[bool](condition))
		switch {
		case err == nil && holds:
			return
		case ctx.Err() != nil:
			t.Fatalf("%s does not become true: %v", condition, err)
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// shot keeps a picture for people to look at.
func shot(ctx context.Context, t *testing.T, name string) {
	t.Helper()
	folder := os.Getenv("TRIAGE_SHOTS")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), do(ctx, t, chromedp.FullScreenshot(100)), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestPageInABrowser: what a log says runs nothing, nothing is wider than a phone, and a command can be copied by keyboard.
func TestPageInABrowser(t *testing.T) {
	ctx := browser(t)
	evil := "<script>window.ran=1</script><img src=/x onerror=window.ran=1>" + strings.Repeat("long", 100)
	page, err := render.HTML(&report.Report{Diagnoses: []report.Diagnosis{{
		ID: "x", Title: evil, Cause: evil, Certainty: report.Confirmed, Evidence: []report.Evidence{{Source: evil, Line: 7, Text: evil}},
		Fixes: []report.Fix{{Do: "Look.", Run: []string{"ls -ld /data"}, Kind: "sh"}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		t.Fatal(err)
	}
	do(ctx, t, chromedp.Navigate("file://"+file))
	shot(ctx, t, "hostile")
	if do(ctx, t, chromedp.Evaluate[bool]("'ran' in window")) {
		t.Error("a log's script ran")
	}
	if do(ctx, t, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")) {
		t.Error("the page is wider than a phone")
	}
	do(ctx, t, chromedp.Focus("button[data-copy]"))
	do(ctx, t, chromedp.KeyEvent("\r"))
	until(ctx, t, `document.querySelector("button[data-copy]").textContent == "Copied"`)
}

// TestAskInABrowser: a log that is pasted is answered, and a fact that is changed changes the backends.
func TestAskInABrowser(t *testing.T) {
	ctx := browser(t)
	engine, err := bots.NewEngine(rules.Shipped())
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer((&Server{Engine: engine, Metrics: bots.NewMetrics(), Log: slog.New(slog.DiscardHandler), Data: t.TempDir(), DiagnoseToken: "open", Spooled: bots.NewBudget(1 << 20)}).Handler())
	defer server.Close()
	log := "Traceback (most recent call last):\n  File \"/home/user/train.py\", line 3, in <module>\n    open(\"/data/a.tar\")\n" +
		"FileNotFoundError: [Errno 2] No such file or directory: '/data/a.tar'\n"
	do(ctx, t, chromedp.Navigate(server.URL))
	do(ctx, t, chromedp.SetValue("#log", log))
	do(ctx, t, chromedp.SetValue("#token", "open"))
	do(ctx, t, chromedp.Evaluate[bool](`by("ask").requestSubmit() === undefined`))
	until(ctx, t, `by("answer").innerText.includes("/data/a.tar")`)
	shot(ctx, t, "ask")
	do(ctx, t, chromedp.SetValue("#library", "transformer_engine"))
	do(ctx, t, chromedp.Evaluate[bool](`by("library").dispatchEvent(new Event("change"))`))
	until(ctx, t, `document.querySelector("#choice td") !== null`)
	const set = `((name, value) => { row(name, ""); const f = by("rows").lastChild.lastChild; f.value = value; return f.dispatchEvent(new Event("change", {bubbles: true})); })`
	do(ctx, t, chromedp.Evaluate[bool](set+"('transformer_engine', '2.3.0')"))
	do(ctx, t, chromedp.Evaluate[bool](set+"('env.NVTE_FLASH_ATTN', '0')"))
	until(ctx, t, `[...document.querySelectorAll("#choice tr")].some((r) => r.innerText.includes("FlashAttention") && r.innerText.includes("disabled"))`)
	if do(ctx, t, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")) {
		t.Error("the page is wider than a phone")
	}
	shot(ctx, t, "whatif")
}
