package tencent

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Plain HTTP exposes user data, temporary tokens and the secrets of roles on the network, and
// responses can be forged. That does not apply to this machine. An endpoint beyond it is
// refused unless protocol = "HTTP", and a warning then reports it.

// loopback says whether a host is this machine.
func loopback(host string) bool {
	name := strings.ToLower(host)
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = strings.ToLower(h)
	}
	name = strings.Trim(name, "[]")
	if ip := net.ParseIP(name); ip != nil {
		return ip.IsLoopback()
	}
	return name == "localhost" || strings.HasSuffix(name, ".localhost")
}

// plainHost is the host beyond this machine that is called by plain HTTP; empty where
// there is none.
func (c Config) plainHost() string {
	scheme, host, _ := c.address(serviceCVM)
	if scheme != "http" || loopback(host) {
		return ""
	}
	return host
}

// checkPlain refuses an endpoint of plain HTTP that protocol does not ask for.
func (c Config) checkPlain() error {
	host := c.plainHost()
	if host == "" || strings.EqualFold(c.Protocol, "HTTP") {
		return nil
	}
	return fmt.Errorf("the endpoint %q is plain HTTP to another machine, which exposes user data and credentials: use https, or set protocol = "+
		"\"HTTP\" (TENCENTCLOUD_PROTOCOL) to allow it", c.Endpoint)
}

// AllowedPlainHost returns the host beyond this machine that a configuration calls by plain HTTP on purpose; empty if
// there is none.
func (c Config) AllowedPlainHost() string {
	c = c.withDefaults()
	if c.checkPlain() != nil {
		return ""
	}
	return c.plainHost()
}

// proxyFor returns the proxy of a request. The metadata service has none: it returns
// credentials over plain HTTP by the address of the machine. A proxy could read or forge them,
// and would get those of its own machine.
func (c Config) proxyFor(environment func(*http.Request) (*url.URL, error)) func(*http.Request) (*url.URL, error) {
	if c.Endpoint != "" {
		return nil // a proxy would be another host
	}
	metadata := ""
	if u, err := parseEndpoint(c.MetadataEndpoint); err == nil {
		metadata = u.Host
	}
	return func(r *http.Request) (*url.URL, error) {
		if r.URL.Host == metadata {
			return nil, nil
		}
		return environment(r)
	}
}
