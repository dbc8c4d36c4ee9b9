package tencent

import (
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
)

// Over plain HTTP, whoever is on the network's way can read user data, temporary
// tokens and the secrets of roles, and forge answers; not on this machine. An
// endpoint beyond it is refused, unless protocol = "HTTP" asks for it; then Warnings
// tells of it.

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
	return fmt.Errorf("the endpoint %q is plain HTTP to another machine, where user data and temporary credentials could be read and answers forged: use "+
		"https, or set protocol = \"HTTP\" (TENCENTCLOUD_PROTOCOL) if that is meant", c.Endpoint)
}

// Warnings says what is allowed in a configuration and dangerous.
func (c Config) Warnings() []string {
	c = c.withDefaults()
	host := c.plainHost()
	if host == "" || c.checkPlain() != nil {
		return nil
	}
	return []string{fmt.Sprintf("%s is asked by plain HTTP (protocol = \"HTTP\"): whoever stands on the way reads user data, temporary tokens and the "+
		"secrets of roles, and can forge answers. Use HTTPS wherever that host has it.", host)}
}

// proxyFor is the proxy of a request. The metadata service has none: it hands out
// credentials by plain HTTP to whoever asks from the right machine, so a proxy would
// read them, could forge them, and would get those of its own machine.
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
