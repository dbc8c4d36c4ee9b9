// Package notify sends messages to chats, pagers, Alertmanager and webhooks. It makes one attempt,
// and reports what the receiver responded. It retries nothing and stores nothing.
package notify

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Sender sends messages.
type Sender struct {
	// Client is http.DefaultClient if nil. Its redirect policy is not used: no redirect is followed.
	Client *http.Client
	// Now is the clock of signatures, time.Now if nil.
	Now func() time.Time
}

// protocol is how messages of one type are sent.
type protocol struct {
	requests func(delivery) ([]request, *notification.Failure)
	// judge returns nil if the message was accepted.
	judge func(response) *notification.Failure
}

var protocols = map[notification.Type]protocol{
	notification.Slack:        {slack, judgeSlack},
	notification.Teams:        {teams, judgeTeams},
	notification.WeCom:        {weCom, judgeWeCom},
	notification.DingTalk:     {dingTalk, judgeDingTalk},
	notification.Feishu:       {feishu, judgeFeishu},
	notification.PagerDuty:    {pagerDuty, judgePagerDuty},
	notification.Alertmanager: {alertmanager, judgeAlertmanager},
	notification.Webhook:      {webhook, judgeWebhook},
}

// delivery is one attempt to send a message. Its texts are plain.
type delivery struct {
	notification.Declaration
	message notification.Message
	now     time.Time
}

type request struct {
	url    string
	header map[string]string
	body   []byte
}

type response struct {
	status int
	header http.Header
	body   []byte
	// problem is why the body is incomplete; zero if it is complete.
	problem reason.Reason
	now     time.Time
}

// Send sends one message. The error is a *notification.Failure, and contains no part of the URL
// except its host, and no secret.
func (s Sender) Send(ctx context.Context, d notification.Declaration, m notification.Message) error {
	p, known := protocols[d.Type]
	if !known {
		return &notification.Failure{Reason: reason.UnknownReceiver(reason.Foreign(plain(string(d.Type), 50)))}
	}
	requests, f := p.requests(delivery{d, plainMessage(m), s.now()})
	for n := 0; f == nil && n < len(requests); n++ {
		f = s.post(ctx, requests[n], p.judge)
	}
	if f != nil {
		return redact(f, d, requests)
	}
	return nil
}

func (s Sender) now() time.Time {
	if s.Now == nil {
		return time.Now()
	}
	return s.Now()
}

// mostResponse is how much of a response is read.
const mostResponse = 64 << 10

func (s Sender) post(ctx context.Context, r request, judge func(response) *notification.Failure) *notification.Failure {
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{WroteRequest: func(httptrace.WroteRequestInfo) { wrote.Store(true) }})
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, r.url, bytes.NewReader(r.body))
	if err != nil {
		return invalidURL()
	}
	// A connection of an earlier message may have been closed by the receiver: whether this one arrived
	// would be unknown.
	req.Close = true
	req.Header.Set("User-Agent", "gpupool")
	for name, value := range r.header {
		req.Header.Set(name, value)
	}
	got, err := s.client().Do(req)
	if err != nil {
		f := noResponse(err)
		f.Uncertain = wrote.Load()
		return f
	}
	defer got.Body.Close()
	if got.StatusCode == http.StatusProxyAuthRequired {
		return ofProxy(got.StatusCode)
	}
	answer := response{status: got.StatusCode, header: got.Header, now: s.now()}
	answer.body, err = io.ReadAll(io.LimitReader(got.Body, mostResponse+1))
	switch {
	case err != nil:
		answer.problem = reason.ResponseEnded()
	case len(answer.body) > mostResponse:
		answer.problem = reason.ResponseTooLong()
	}
	return judge(answer)
}

func (s Sender) client() *http.Client {
	client := http.Client{}
	if s.Client != nil {
		client = *s.Client
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	if client.Transport == nil {
		client.Transport = http.DefaultTransport
	}
	if transport, is := client.Transport.(*http.Transport); is {
		transport = transport.Clone()
		transport.OnProxyConnectResponse = func(_ context.Context, _ *url.URL, _ *http.Request, answer *http.Response) error {
			if answer.StatusCode == http.StatusOK {
				return nil
			}
			return ofProxy(answer.StatusCode)
		}
		client.Transport = transport
	}
	return &client
}

// post returns a request with a body of JSON. Some receivers refuse escapes such as \u003c.
func post(url string, content any) request {
	return request{url: url, header: map[string]string{"Content-Type": "application/json; charset=utf-8"}, body: encode(content)}
}

func encode(content any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(content); err != nil {
		panic(err) // strings, numbers and times, in maps and slices
	}
	return bytes.TrimSpace(b.Bytes())
}
