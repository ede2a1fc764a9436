package web

import (
	"container/list"
	"context"
	"io"
	"net"
	"net/http"
	"sync"
)

// connections bounds how many connections are open. When there are too many, the one makes way that has let wait longest: for the rest of
// a request, or for another one. So those who send slowly, however many, shut nobody out, and whose request has come whole is served.
type connections struct {
	most int

	mu      sync.Mutex
	waiting list.List // of net.Conn, that which has let wait longest first
	open    map[net.Conn]*list.Element
}

func newConnections(most int) *connections {
	return &connections{most: most, open: map[net.Conn]*list.Element{}}
}

// changed is told by the HTTP server what becomes of a connection.
func (c *connections) changed(conn net.Conn, state http.ConnState) {
	switch state {
	case http.StateNew, http.StateActive, http.StateIdle:
		c.wait(conn)
	default:
		c.mu.Lock()
		defer c.mu.Unlock()
		if at := c.open[conn]; at != nil {
			c.waiting.Remove(at)
		}
		delete(c.open, conn)
	}
}

// wait notes that a connection lets wait from now on.
func (c *connections) wait(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.open[conn]; at != nil {
		c.waiting.Remove(at)
	}
	c.open[conn] = c.waiting.PushBack(conn)
	if len(c.open) <= c.most {
		return
	}
	slowest := c.waiting.Remove(c.waiting.Front()).(net.Conn)
	delete(c.open, slowest)
	_ = slowest.Close()
}

// came notes that the request of a connection has come whole.
func (c *connections) came(conn net.Conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if at := c.open[conn]; at != nil {
		c.waiting.Remove(at)
		c.open[conn] = nil
	}
}

type connKey struct{}

// attach lets watch find a request's connection.
func (c *connections) attach(ctx context.Context, conn net.Conn) context.Context {
	return context.WithValue(ctx, connKey{}, conn)
}

// watch looks when a request has come whole.
func (c *connections) watch(handler http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, ok := r.Context().Value(connKey{}).(net.Conn)
		switch {
		case !ok:
		case r.ContentLength == 0:
			c.came(conn)
		default:
			r.Body = &watchedBody{r.Body, func() { c.came(conn) }}
		}
		handler.ServeHTTP(w, r)
	})
}

// watchedBody tells when a body has ended.
type watchedBody struct {
	io.ReadCloser
	ended func()
}

func (b *watchedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err == io.EOF { //nolint:errorlint // a body returns it as it is
		b.ended()
	}
	return n, err
}
