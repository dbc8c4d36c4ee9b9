package access

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"strings"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// ErrTooManyTokens says that a token was not checked, since too many unknown ones were sent.
var ErrTooManyTokens = errors.New("too many unknown tokens were sent: try again in a few seconds")

// Limits of TokenReviews of tokens that were not valid before. Each client has its own, so that one that
// sends random tokens does not keep others from signing in.
const (
	reviewsOfClient, burstOfClient = 5, 30 // a second
	reviewsOfAll, burstOfAll       = 50, 200
	// clientsAtMost is the most clients whose limits are kept.
	clientsAtMost = 4096
)

type limits struct {
	mu      sync.Mutex
	all     *rate.Limiter
	clients map[string]*rate.Limiter
}

// allow reports whether a client may have a token reviewed now.
func (l *limits) allow(now time.Time, client string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = rate.NewLimiter(reviewsOfAll, burstOfAll)
	}
	of := l.clients[client]
	if of == nil {
		if l.clients == nil || len(l.clients) >= clientsAtMost {
			l.clients = map[string]*rate.Limiter{}
		}
		of = rate.NewLimiter(reviewsOfClient, burstOfClient)
		l.clients[client] = of
	}
	return of.AllowN(now, 1) && l.all.AllowN(now, 1)
}

type clientKey struct{}

// WithClient returns a context with the address that a request came from, such as "192.0.2.1:4711".
func WithClient(ctx context.Context, address string) context.Context {
	return context.WithValue(ctx, clientKey{}, address)
}

// clientOf returns the client of a context.
func clientOf(ctx context.Context) string {
	address, _ := ctx.Value(clientKey{}).(string)
	return Network(address)
}

// Network returns what counts as one client: an address, with or without a port, as its IP address. A
// client of IPv6 has a network of 64 bits.
func Network(address string) string {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = strings.Trim(address, "[]")
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return host
	}
	ip = ip.Unmap().WithZone("")
	if ip.Is6() {
		if network, err := ip.Prefix(64); err == nil {
			return network.String()
		}
	}
	return ip.String()
}
