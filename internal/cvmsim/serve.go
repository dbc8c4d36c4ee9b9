package cvmsim

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

// ServeConfig configures ListenAndServe.
type ServeConfig struct {
	// Listen is host:port; port 0 takes a free one.
	Listen string
	// AllowNonLoopback allows addresses that other machines can reach.
	AllowNonLoopback bool
	// NoRates disables the rate limits of actions, which are enabled here.
	NoRates bool
	// Stdout gets the lines for a shell; Stderr the log of calls, unless
	// Options names another.
	Stdout, Stderr io.Writer
	// Region is the exported region; empty means ap-singapore.
	Region string

	Options
}

// shutdownGrace is how long pending calls may take at the end.
const shutdownGrace = 2 * time.Second

// ListenAndServe serves a local CVM until ctx ends. Once it listens, it prints the export lines
// that a shell needs to use it.
func ListenAndServe(ctx context.Context, c ServeConfig) error {
	if !c.AllowNonLoopback {
		if err := checkLoopback(c.Listen); err != nil {
			return err
		}
	}
	c.Region = cmp.Or(c.Region, "ap-singapore")
	if world.RegionByID[c.Region] == nil {
		return fmt.Errorf("the local CVM has no region %q; it has %s", c.Region, strings.Join(slices.Sorted(maps.Keys(world.RegionByID)), ", "))
	}
	c.EnforceRates = !c.NoRates
	if c.CallLog == nil {
		c.CallLog = c.Stderr
	}
	// The address comes first: it prevents two servers from using one state.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", c.Listen)
	if err != nil {
		return fmt.Errorf("the local CVM cannot listen on %s: %w; choose another address with --listen", c.Listen, err)
	}
	s, err := New(c.Options)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: s, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute}
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()
	printErr := s.printExports(c, listener.Addr())
	if printErr == nil {
		select {
		case <-ctx.Done():
		case err := <-served:
			return errors.Join(err, s.Close())
		}
	}
	return errors.Join(printErr, shutDown(server, s))
}

// shutDown lets pending calls end, those that a fault delays first.
func shutDown(server *http.Server, s *Server) error {
	s.endpoint.Release()
	grace, cancel := context.WithTimeout(context.Background(), shutdownGrace)
	defer cancel()
	err := server.Shutdown(grace)
	if errors.Is(err, context.DeadlineExceeded) {
		err = server.Close()
	}
	return errors.Join(err, s.Close())
}

// printExports prints lines for a shell's eval; clients read the same names.
func (s *Server) printExports(c ServeConfig, addr net.Addr) error {
	base := "http://" + reachable(addr)
	_, err := fmt.Fprintf(c.Stdout, `export GPUPOOL_ENDPOINT=%s
export GPUPOOL_METADATA_ENDPOINT=%s
export TENCENTCLOUD_SECRET_ID=%s
export TENCENTCLOUD_SECRET_KEY=%s
export TENCENTCLOUD_REGION=%s
`, base, base, s.options.SecretID, s.options.SecretKey, c.Region)
	if err != nil {
		return fmt.Errorf("printing the addresses of the local CVM: %w", err)
	}
	return nil
}

// reachable returns an address that a client on this machine can connect to. A server that listens
// on all addresses is reachable on loopback.
func reachable(addr net.Addr) string {
	at, err := netip.ParseAddrPort(addr.String())
	if err != nil {
		return addr.String()
	}
	if at.Addr().IsUnspecified() {
		return netip.AddrPortFrom(netip.AddrFrom4([4]byte{127, 0, 0, 1}), at.Port()).String()
	}
	return at.String()
}

// checkLoopback rejects an address that other machines can reach: a client of the control surface
// controls the server.
func checkLoopback(listen string) error {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return fmt.Errorf("the address to listen on, %q, is not host:port: %w", listen, err)
	}
	if host == "localhost" {
		return nil
	}
	if ip, err := netip.ParseAddr(host); err == nil && ip.IsLoopback() {
		return nil
	}
	return fmt.Errorf("the local CVM listens on loopback only, not on %q: use 127.0.0.1, or allow it with --allow-non-loopback", listen)
}
