package client

import (
	"context"
	"log/slog"
	"maps"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// dialTimeout limits the wait for a cluster that does not respond.
const dialTimeout = 10 * time.Second

// client-go writes what it meets to standard error by itself, among logs that may
// be JSON. All that matters of it comes back as an error.
func init() { klog.SetSlogLogger(slog.New(slog.DiscardHandler)) }

// Client is a connection to one cluster. It is safe for concurrent use.
type Client struct {
	host  string
	kube  *Groups
	calls *calls
}

// Open prepares a connection; it makes no call. userAgent is how the audit log
// of the cluster names the program, such as "gpupool/1.2.0".
func Open(c Config, userAgent string) (*Client, error) {
	config, err := c.REST()
	if err != nil {
		return nil, configurationError{err}
	}
	config.UserAgent = userAgent
	// The API server's own priority and fairness paces clients. client-go's
	// default of five requests a second would slow a run down for nothing.
	config.QPS = -1
	config.ContentType = "application/vnd.kubernetes.protobuf"
	config.AcceptContentTypes = "application/vnd.kubernetes.protobuf,application/json"
	config.WarningHandler = rest.NoWarnings{}
	if config.Dial == nil {
		config.Dial = (&net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}).DialContext
	}
	log := c.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	client := &Client{host: config.Host, calls: &calls{counts: map[string]int{}}}
	config.Wrap(func(next http.RoundTripper) http.RoundTripper {
		return &transport{next: next, under: pathOf(config.Host), calls: client.calls, log: log}
	})
	if client.kube, err = newGroups(config); err != nil {
		return nil, &Error{Verb: "reach", Object: config.Host, Class: ClassConfiguration, Err: err}
	}
	return client, nil
}

// pathOf is the path of an address, without the slash at its end.
func pathOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // without a scheme, and so without a path
	}
	return strings.TrimSuffix(u.Path, "/")
}

// Kubernetes are the clients of the API's own groups.
func (c *Client) Kubernetes() *Groups { return c.kube }

// UID returns the UID of the namespace kube-system, which identifies the cluster.
func (c *Client) UID(ctx context.Context) (string, error) {
	namespace, err := c.kube.CoreV1().Namespaces().Get(ctx, metav1.NamespaceSystem, metav1.GetOptions{})
	if err != nil {
		return "", Wrap("get", "namespaces "+metav1.NamespaceSystem, err)
	}
	return string(namespace.UID), nil
}

// Host is the address of the API server.
func (c *Client) Host() string { return c.host }

// Now is the API server's clock: the Date of its last answer, and the time that
// passed since. Before the first answer it is zero.
func (c *Client) Now() time.Time { return c.calls.now() }

// Calls counts the API calls made so far, by verb and resource, such as
// "list pods".
func (c *Client) Calls() map[string]int {
	c.calls.mu.Lock()
	defer c.calls.mu.Unlock()
	return maps.Clone(c.calls.counts)
}
