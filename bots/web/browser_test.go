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
	do(t, ctx, chromedp.EmulateViewport(390, 844)) // a phone
	return ctx
}

// do runs an action of the browser.
func do[T any](t *testing.T, ctx context.Context, action chromedp.Action[T]) T {
	t.Helper()
	value, err := chromedp.Run(ctx, action)
	if err != nil {
		t.Fatal(err)
	}
	return value
}

// until waits up to the context's end for a condition in JavaScript.
func until(t *testing.T, ctx context.Context, condition string) {
	t.Helper()
	for !do(t, ctx, chromedp.Evaluate[bool](condition)) {
		time.Sleep(20 * time.Millisecond)
	}
}

// shot keeps a picture for people to look at.
func shot(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	folder := os.Getenv("TRIAGE_SHOTS")
	if folder == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(folder, name+".png"), do(t, ctx, chromedp.FullScreenshot(100)), 0o644); err != nil {
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
	do(t, ctx, chromedp.Navigate("file://"+file))
	shot(t, ctx, "hostile")
	if do(t, ctx, chromedp.Evaluate[bool]("'ran' in window")) {
		t.Error("a log's script ran")
	}
	if do(t, ctx, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")) {
		t.Error("the page is wider than a phone")
	}
	do(t, ctx, chromedp.Focus("button[data-copy]"))
	do(t, ctx, chromedp.KeyEvent("\r"))
	until(t, ctx, `document.querySelector("button[data-copy]").textContent == "Copied"`)
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
	do(t, ctx, chromedp.Navigate(server.URL))
	do(t, ctx, chromedp.SetValue("#log", log))
	do(t, ctx, chromedp.SetValue("#token", "open"))
	do(t, ctx, chromedp.Evaluate[bool](`by("ask").requestSubmit() === undefined`))
	until(t, ctx, `by("answer").innerText.includes("/data/a.tar")`)
	shot(t, ctx, "ask")
	do(t, ctx, chromedp.SetValue("#library", "transformer_engine"))
	do(t, ctx, chromedp.Evaluate[bool](`by("library").dispatchEvent(new Event("change"))`))
	until(t, ctx, `document.querySelector("#choice td") !== null`)
	const set = `((name, value) => { row(name, ""); const f = by("rows").lastChild.lastChild; f.value = value; return f.dispatchEvent(new Event("change", {bubbles: true})); })`
	do(t, ctx, chromedp.Evaluate[bool](set+"('transformer_engine', '2.3.0')"))
	do(t, ctx, chromedp.Evaluate[bool](set+"('env.NVTE_FLASH_ATTN', '0')"))
	until(t, ctx, `[...document.querySelectorAll("#choice tr")].some((r) => r.innerText.includes("FlashAttention") && r.innerText.includes("disabled"))`)
	if do(t, ctx, chromedp.Evaluate[bool]("document.documentElement.scrollWidth > innerWidth")) {
		t.Error("the page is wider than a phone")
	}
	shot(t, ctx, "whatif")
}
