package mcpbot

import (
	"context"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gpu-triage/triage/bots"
)

// drained is a transport whose end is seen only after every call was answered. The SDK drops calls that are not when its input ends, as
// it does at once when requests are piped in.
type drained struct{ mcp.Transport }

func (d drained) Connect(ctx context.Context) (mcp.Connection, error) {
	under, err := d.Transport.Connect(ctx)
	return &drainedConnection{Connection: under, answered: make(chan struct{}, 1)}, err
}

type drainedConnection struct {
	mcp.Connection
	mu       sync.Mutex
	open     int           // calls without an answer
	answered chan struct{} // has something when open may have become 0
}

func (c *drainedConnection) Read(ctx context.Context) (jsonrpc.Message, error) {
	message, err := c.Connection.Read(ctx)
	if err != nil {
		c.drain(ctx)
		return message, err
	}
	if request, ok := message.(*jsonrpc.Request); ok && request.IsCall() {
		c.count(1)
	}
	return message, nil
}

func (c *drainedConnection) Write(ctx context.Context, message jsonrpc.Message) error {
	err := c.Connection.Write(ctx, message)
	if _, ok := message.(*jsonrpc.Response); ok {
		c.count(-1)
	}
	return err
}

func (c *drainedConnection) count(n int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += n
	if c.open <= 0 {
		select {
		case c.answered <- struct{}{}:
		default:
		}
	}
}

// drain waits until no call is open. One that was cancelled may never be answered.
func (c *drainedConnection) drain(ctx context.Context) {
	enough := time.After(bots.AnswerTime)
	for {
		c.mu.Lock()
		open := c.open
		c.mu.Unlock()
		if open <= 0 {
			return
		}
		select {
		case <-c.answered:
		case <-enough:
			return
		case <-ctx.Done():
			return
		}
	}
}
