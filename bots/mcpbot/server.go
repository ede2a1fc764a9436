// Package mcpbot offers the engine as tools to programs that speak the Model Context Protocol, such as assistants that write code. What
// a tool returns is bounded, for it becomes part of a conversation, and holds no secret of a log.
package mcpbot

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/rules/release"
)

// Server answers calls of tools.
type Server struct {
	Engine bots.Engine
	Log    *slog.Logger
	// Files lists the logs that a path of this machine stands for. It is nil where callers are on other machines: then a log comes as text.
	Files func(path string) ([]string, error)
}

// instructions are what a client's model reads before it knows the tools.
const instructions = `triage says why a training job (PyTorch, CUDA, NCCL, JAX, launchers, schedulers) failed, from its log. Begin with diagnose.
"confirmed" means that every condition of the cause holds; "likely" that a deciding fact is missing: find it out with the command that the
answer names and call diagnose again with it in facts. "unexplained" means that no known cause fits.`

// Protocol is the server in the form of the SDK, for any transport.
func (s Server) Protocol() *mcp.Server {
	server := mcp.NewServer(&mcp.Implementation{Name: "triage", Title: "triage", Version: release.Program(), WebsiteURL: "https://github.com/gpu-triage/triage"},
		&mcp.ServerOptions{Instructions: instructions, Logger: s.Log})
	mcp.AddTool(server, tool("diagnose", "Why a training job failed: the root cause with its certainty and evidence, and fixes. "+
		"Give the end of the log at least, with the whole first traceback of every rank; more is better."), s.diagnose)
	mcp.AddTool(server, tool("backends", "Which attention backends a library (transformer_engine, vllm, transformers, torch_sdpa) allows for a configuration, what rules out "+
		"the others, and the smallest change that would enable one. Without a library: those that are known, with their releases."), s.backends)
	mcp.AddTool(server, tool("explain", "What a known failure is, by the id that diagnose gives, or what a backend rule is."), s.explain)
	mcp.AddTool(server, tool("history", "Which releases of a Python package have a module, class, function, method or parameter, and where it moved: "+
		"transformers.AdamW, or transformers.Trainer.__init__(tokenizer=)."), s.history)
	return server
}

// ServeStdio speaks with the program that started this one, until it closes the stream or the context ends.
func (s Server) ServeStdio(ctx context.Context) error {
	err := s.Protocol().Run(ctx, drained{&mcp.StdioTransport{}})
	if ctx.Err() != nil {
		return nil
	}
	return err
}

// maxRequest bounds a request over HTTP, in bytes: a log of maxLog, as a JSON string.
const maxRequest = 3 * maxLog / 2

// Handler speaks over streamable HTTP. A page in a browser cannot use it, nor can another name that leads to this machine.
func (s Server) Handler() http.Handler {
	server := s.Protocol()
	handler := mcp.NewStreamableHTTPHandler(func(*http.Request) *mcp.Server { return server }, &mcp.StreamableHTTPOptions{
		Stateless: true, JSONResponse: true, Logger: s.Log, MaxRequestBodyBytes: maxRequest,
	})
	return http.NewCrossOriginProtection().Handler(handler)
}
