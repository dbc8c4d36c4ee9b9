package notice

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"
)

// DefaultEndpoint is the metadata service of Tencent Cloud, as an instance reaches it.
const DefaultEndpoint = "http://metadata.tencentyun.com"

// DefaultTimeout is how long the metadata service is waited for.
const DefaultTimeout = 3 * time.Second

// noticePath is what it is asked for (API document 213/4934).
const noticePath = "latest/meta-data/spot/termination-time"

// mostRead is how much of an answer is read: a time has 19 characters.
const mostRead = 1024

// Metadata is the metadata service of an instance.
type Metadata struct {
	address *url.URL
	client  *http.Client
}

// NewMetadata makes a client; it makes no call.
func NewMetadata(endpoint string, timeout time.Duration) (*Metadata, error) {
	u, err := url.Parse(endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, fmt.Errorf("%q is no address of a metadata service, such as %s", endpoint, DefaultEndpoint)
	}
	return &Metadata{
		address: u.JoinPath(noticePath),
		client: &http.Client{
			Timeout: timeout,
			// No proxy: it would be asked about its own machine. No redirect: the service
			// knows none, and what follows one is somebody else's answer.
			Transport:     &http.Transport{},
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		},
	}, nil
}

// Ask returns what the service answers for the time at which the instance is taken back.
// It is not given where the service says that there is none. Any other answer, and none,
// is an error: then it is not known.
func (m *Metadata) Ask(ctx context.Context) (answer string, given bool, err error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, m.address.String(), http.NoBody)
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
		err = of.Err // which leaves out the address
	}
	return fmt.Errorf("the metadata service %s does not say whether the instance is taken back: %w. Nothing is taken to be so, and it is asked again; "+
		"check that this is an instance of Tencent Cloud, and that nothing keeps pods from the service", m.address.Host, err)
}
