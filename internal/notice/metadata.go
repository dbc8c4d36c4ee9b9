package notice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// DefaultEndpoint is the metadata service of Tencent Cloud on an instance.
const DefaultEndpoint = "http://metadata.tencentyun.com"

// DefaultTimeout limits a query of the metadata service.
const DefaultTimeout = 3 * time.Second

// The paths of the queries (API document 213/4934).
const (
	noticePath   = "latest/meta-data/spot/termination-time"
	instancePath = "latest/meta-data/instance-id"
)

// mostRead limits the bytes of a response: a time has 19 characters.
const mostRead = 1024

// Metadata is the metadata service of an instance.
type Metadata struct {
	address *url.URL
	client  *http.Client
}

// NewMetadata returns a client; it makes no call.
func NewMetadata(endpoint string, timeout time.Duration) (*Metadata, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("invalid address of a metadata service %q: use one such as %s", endpoint, DefaultEndpoint)
	}
	return &Metadata{
		address: u,
		client: &http.Client{
			Timeout: timeout,
			// No proxy, which would query its own instance. No redirect, since the service has none
			// and another server would respond.
			Transport:     &http.Transport{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Ask returns the announced time of the interruption. given is false if the service says that there
// is none. Any other response, and none, is an error: the state is then unknown.
func (m *Metadata) Ask(ctx context.Context) (answer string, given bool, err error) {
	return m.get(ctx, noticePath)
}

// InstanceID returns the ID of this instance.
func (m *Metadata) InstanceID(ctx context.Context) (string, error) {
	id, given, err := m.get(ctx, instancePath)
	if err == nil && (!given || !strings.HasPrefix(id, "ins-")) {
		err = m.unknown(fmt.Errorf("it returns no ID of an instance, but %.40q", id))
	}
	return strings.TrimSpace(id), err
}

// get returns the value of a key. given is false if there is none.
func (m *Metadata) get(ctx context.Context, path string) (answer string, given bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.address.JoinPath(path).String(), http.NoBody)
	if err != nil {
		return "", false, err
	}
	response, err := m.client.Do(request)
	if err != nil {
		return "", false, m.unknown(err)
	}
	defer response.Body.Close()
	switch response.StatusCode {
	case http.StatusOK:
		text, err := io.ReadAll(io.LimitReader(response.Body, mostRead))
		if err != nil {
			return "", false, m.unknown(err)
		}
		return string(text), true, nil
	case http.StatusNotFound:
		return "", false, nil
	}
	return "", false, m.unknown(fmt.Errorf("it answers HTTP %d", response.StatusCode))
}

func (m *Metadata) unknown(err error) error {
	var of *url.Error
	if errors.As(err, &of) {
		err = of.Err // without the address
	}
	return fmt.Errorf("the metadata service %s does not report whether the instance is reclaimed: %w. The agent retries; "+
		"check that this is a Tencent Cloud instance and that pods can reach the service", m.address.Host, err)
}
