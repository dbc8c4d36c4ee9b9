package notify

import (
	"cmp"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

func invalidURL() *notification.Failure { return &notification.Failure{Reason: reason.InvalidURL()} }

// refusal is what a code of a receiver means.
type refusal struct {
	// because makes the reason from the message.
	because func(reason.Reason) reason.Reason
	// wait is how long to wait before the next message.
	wait time.Duration
}

// busy is the refusal of limits and overload.
func busy(wait time.Duration) refusal { return refusal{reason.ReceiverBusy, wait} }

// said returns what a receiver wrote as a reason. Send cuts it, after it has removed secrets.
func said(message string) reason.Reason {
	if message = strings.TrimSuffix(message, "."); message == "" {
		return reason.ReceiverRefused()
	}
	return reason.Unexplained(reason.Foreign(message))
}

// refuse returns the failure of a code that the receiver responded.
func (r response) refuse(code string, message reason.Reason, means refusal) *notification.Failure {
	if means.because == nil {
		means.because = reason.UnknownCode
	}
	return &notification.Failure{Code: code, Reason: means.because(message), RetryAfter: max(means.wait, r.retryAfter())}
}

// unexpected returns the failure of a response that is not one of the protocol.
func (r response) unexpected() *notification.Failure { return r.failure(r.meaning()) }

// failure returns the failure of a status with its meaning.
func (r response) failure(because func(reason.Reason) reason.Reason) *notification.Failure {
	message, means := r.problem, refusal{because: because}
	if message.IsZero() {
		message = reason.UnexpectedResponse(reason.Word(cmp.Or(http.StatusText(r.status), strconv.Itoa(r.status))))
	}
	if r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable {
		means.wait = time.Minute
	}
	f := r.refuse("HTTP "+strconv.Itoa(r.status), message, means)
	f.Uncertain = r.status < 300 || r.status >= 500 && r.status != http.StatusServiceUnavailable
	return f
}

// meaning returns what a status means.
func (r response) meaning() func(reason.Reason) reason.Reason {
	switch {
	case r.status < 300:
		return reason.NotOfProtocol
	case r.status < 400:
		return reason.Redirected
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		return reason.NotPermitted
	case r.status == http.StatusNotFound || r.status == http.StatusGone:
		return reason.URLGone
	case r.status == http.StatusRequestEntityTooLarge:
		return reason.MessageTooLarge
	case r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable:
		return reason.ReceiverBusy
	case r.status >= 500:
		return reason.ReceiverFails
	}
	return reason.URLOfOtherType
}

// mostWait is the most that a receiver can ask for.
const mostWait = 24 * time.Hour

// retryAfter returns the time of the header Retry-After: seconds, or a date.
func (r response) retryAfter() time.Duration {
	value := r.header.Get("Retry-After")
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		return min(time.Duration(seconds)*time.Second, mostWait)
	}
	if at, err := http.ParseTime(value); err == nil {
		return min(max(at.Sub(r.now), 0), mostWait)
	}
	return 0
}

// judgeCode judges a response with a code and a message in JSON. Zero is success, whatever the
// status.
func judgeCode(r response, codeKey, messageKey string, meaning func(code, message string) refusal) *notification.Failure {
	var fields map[string]json.RawMessage
	var code *int64
	if !r.problem.IsZero() || json.Unmarshal(r.body, &fields) != nil || json.Unmarshal(fields[codeKey], &code) != nil || code == nil {
		return r.unexpected()
	}
	if *code == 0 {
		return nil
	}
	var message string
	if json.Unmarshal(fields[messageKey], &message) != nil {
		message = ""
	}
	text := strconv.FormatInt(*code, 10)
	return r.refuse(text, said(message), meaning(text, message))
}

// redact removes the secrets of a declaration, which a receiver may repeat in its response.
func redact(f *notification.Failure, d notification.Declaration, requests []request) *notification.Failure {
	secrets := []string{d.URL, d.Secret, url.QueryEscape(d.Secret), url.PathEscape(d.Secret)}
	for _, address := range append([]request{{url: d.URL}}, requests...) {
		u, err := url.Parse(address.url)
		if err != nil {
			continue
		}
		password, _ := u.User.Password()
		secrets = append(secrets, address.url, u.RequestURI(), u.User.Username(), password)
		secrets = append(secrets, strings.Split(u.Path, "/")...)
		for _, values := range u.Query() {
			secrets = append(secrets, values...)
		}
	}
	slices.SortFunc(secrets, func(a, b string) int { return len(b) - len(a) })
	hide := func(text string) string {
		for _, secret := range secrets {
			if len(secret) >= 8 || secret == d.Secret && secret != "" {
				text = strings.ReplaceAll(text, secret, "***")
			}
		}
		return plain(text, 300)
	}
	f.Code, f.Reason = plain(hide(f.Code), 50), f.Reason.Rewrite(hide)
	return f
}

// short reports whether a body is a single word, such as a code.
func short(body string) bool {
	return len(body) > 0 && len(body) <= 60 && len(strings.Trim(body, "abcdefghijklmnopqrstuvwxyz_")) == 0
}
