package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/gpu-triage/triage/bots"
	"github.com/gpu-triage/triage/bots/mcpbot"
)

func newMCP(std streams) *cobra.Command {
	var known ruleFlags
	var address string
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Offer the engine as tools to assistants, by the Model Context Protocol",
		Long: `Offers the tools diagnose, backends, explain and history to a program that speaks the Model Context Protocol: over standard input
and output, or with --listen over streamable HTTP at /mcp. Over HTTP no files of this machine are read, and everybody who reaches
the address may ask.`,
		Example: `  claude mcp add triage -- triage mcp
  triage mcp --listen 127.0.0.1:8090`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			files, err := known.files()
			if err != nil {
				return err
			}
			engine, err := bots.NewEngine(files...)
			if err != nil {
				return err
			}
			server := mcpbot.Server{Engine: engine, Log: slog.New(slog.NewTextHandler(std.err, &slog.HandlerOptions{Level: slog.LevelWarn}))}
			if address != "" {
				return serveMCP(cmd.Context(), std, address, server)
			}
			server.Files = filesOf
			return server.ServeStdio(cmd.Context())
		},
	}
	known.add(cmd)
	cmd.Flags().StringVar(&address, "listen", "", "`ADDRESS` to serve HTTP on, as 127.0.0.1:8090, instead of standard input and output")
	return cmd
}

// serveMCP answers over HTTP until the context ends.
func serveMCP(ctx context.Context, std streams, address string, tools mcpbot.Server) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return fmt.Errorf("--listen: %w", err)
	}
	fmt.Fprintf(std.err, "triage: MCP at http://%s/mcp\n", listener.Addr())
	mux := http.NewServeMux()
	mux.Handle("/mcp", tools.Handler())
	server := &http.Server{Handler: mux, ReadHeaderTimeout: requestGrace, ReadTimeout: bots.AnswerTime, IdleTimeout: bots.AnswerTime, MaxHeaderBytes: 64 << 10}
	stopped := make(chan error, 1)
	context.AfterFunc(ctx, func() {
		grace, cancel := context.WithTimeout(context.Background(), requestGrace)
		defer cancel()
		stopped <- server.Shutdown(grace)
	})
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return <-stopped
}
