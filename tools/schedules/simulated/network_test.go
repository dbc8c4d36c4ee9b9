package simulated_test

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"sync"
	"sync/atomic"
)

// memory is a network in memory: the listeners by their addresses. Simulated time stands
// still while anyone waits for a real one.
var memory sync.Map

func init() {
	http.DefaultTransport = &http.Transport{DialContext: dial}
}

func dial(ctx context.Context, _, address string) (net.Conn, error) {
	found, ok := memory.Load(address)
	if !ok {
		return nil, fmt.Errorf("connection refused at %s", address)
	}
	l := found.(*listener)
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
	case <-ctx.Done():
	}
	return nil, net.ErrClosed
}

type listener struct {
	address string
	conns   chan net.Conn
	closed  chan struct{}
	close   func()
}

var listeners atomic.Int64

func listen() *listener {
	l := &listener{address: fmt.Sprintf("127.0.0.1:%d", listeners.Add(1)), conns: make(chan net.Conn), closed: make(chan struct{})}
	l.close = sync.OnceFunc(func() { memory.Delete(l.address); close(l.closed) })
	memory.Store(l.address, l)
	return l
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error   { l.close(); return nil }
func (l *listener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }
