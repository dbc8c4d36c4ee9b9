package serve

import (
	"crypto/tls"
	"net"
	"net/http"
	"sync"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// connections are those of a server, counted below TLS. At the limit none waits: the client with the
// most of them loses one. So a client with few, such as a probe, is always served.
type connections struct {
	net.Listener
	atMost int

	mu     sync.Mutex
	opened int64
	open   map[*connection]bool
}

// connection is one of them.
type connection struct {
	net.Conn
	of     *connections
	client string // see access.Network
	number int64  // in the order of their start
	idle   bool   // it waits for a next request
}

func limit(listener net.Listener, atMost int) *connections {
	return &connections{Listener: listener, atMost: atMost, open: map[*connection]bool{}}
}

// Accept returns the next connection.
func (c *connections) Accept() (net.Conn, error) {
	accepted, err := c.Listener.Accept()
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	c.opened++
	next := &connection{Conn: accepted, of: c, client: access.Network(accepted.RemoteAddr().String()), number: c.opened}
	c.open[next] = true
	var loser *connection
	if len(c.open) > c.atMost {
		loser = c.loser()
		delete(c.open, loser)
	}
	c.mu.Unlock()
	if loser != nil {
		_ = loser.Conn.Close() // its client sees the end of the connection
	}
	return next, nil
}

// loser returns a connection of the client with the most of them: the oldest idle one, else the oldest.
func (c *connections) loser() *connection {
	of, most := map[string]int{}, 0
	for o := range c.open {
		of[o.client]++
		most = max(most, of[o.client])
	}
	var loser *connection
	for o := range c.open {
		if of[o.client] == most && (loser == nil || o.idle && !loser.idle || o.idle == loser.idle && o.number < loser.number) {
			loser = o
		}
	}
	return loser
}

// Close closes the connection.
func (o *connection) Close() error {
	o.of.mu.Lock()
	delete(o.of.open, o)
	o.of.mu.Unlock()
	return o.Conn.Close()
}

// state records a connection's state, which the server reports.
func (c *connections) state(conn net.Conn, state http.ConnState) {
	if encrypted, ok := conn.(*tls.Conn); ok {
		conn = encrypted.NetConn()
	}
	if o, ok := conn.(*connection); ok {
		c.mu.Lock()
		o.idle = state == http.StateIdle
		c.mu.Unlock()
	}
}
