package notify

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
)

func invalidURL() *notification.Failure {
	return &notification.Failure{Message: "the URL is invalid", Remedy: "Set url_wo to the URL that the receiver shows, and increase url_wo_version."}
}

// remedy is what to do about a code of a receiver.
type remedy struct {
	text string
	// wait is how long to wait before the next message.
	wait time.Duration
}

// busy is a remedy of limits and overload.
func busy(wait time.Duration) remedy {
	return remedy{"gpupool retries later. If it happens often, set digest, or use fewer notifications with this URL.", wait}
}

// refusal returns the failure of a code that the receiver responded.
func (r response) refusal(code, message string, remedies map[string]remedy) *notification.Failure {
	if message == "" {
		message = "the receiver refused the message"
	}
	todo, known := remedies[code]
	if !known {
		todo.text = "Search for the code in the receiver's documentation, and check the URL."
	}
	return &notification.Failure{Code: plain(code, 50), Message: message, Remedy: todo.text, RetryAfter: max(todo.wait, r.retryAfter())}
}

// unexpected returns the failure of a response that is not one of the protocol.
func (r response) unexpected() *notification.Failure {
	f := &notification.Failure{Code: "HTTP " + strconv.Itoa(r.status), Message: r.problem, RetryAfter: r.retryAfter()}
	if f.Message == "" {
		f.Message = strings.TrimSpace("unexpected response: " + http.StatusText(r.status))
	}
	switch {
	case r.status < 300:
		f.Uncertain, f.Remedy = true, "Check that the URL is one of this type of notification, and that no proxy responds instead."
	case r.status < 400:
		f.Remedy = "Set url_wo to the URL after the redirect, and increase url_wo_version."
	case r.status == http.StatusUnauthorized || r.status == http.StatusForbidden:
		f.Remedy = "Check the secret and the permissions at the receiver."
	case r.status == http.StatusNotFound || r.status == http.StatusGone:
		f.Remedy = "Create the URL again at the receiver, set url_wo, and increase url_wo_version."
	case r.status == http.StatusRequestEntityTooLarge:
		f.Remedy = "Set a shorter digest, or select fewer events."
	case r.status == http.StatusTooManyRequests || r.status == http.StatusServiceUnavailable:
		f.Remedy, f.RetryAfter = busy(0).text, max(f.RetryAfter, time.Minute)
	case r.status >= 500:
		f.Uncertain, f.Remedy = true, "Check the receiver's status page."
	default:
		f.Remedy = "Check that the URL is one of this type of notification."
	}
	return f
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
func judgeCode(r response, codeKey, messageKey string, remedies map[string]remedy) *notification.Failure {
	var fields map[string]json.RawMessage
	var code *int64
	if r.problem != "" || json.Unmarshal(r.body, &fields) != nil || json.Unmarshal(fields[codeKey], &code) != nil || code == nil {
		return r.unexpected()
	}
	if *code == 0 {
		return nil
	}
	var message string
	if json.Unmarshal(fields[messageKey], &message) != nil {
		message = ""
	}
	return r.refusal(strconv.FormatInt(*code, 10), message, remedies)
}

// noResponse returns the failure of a request without a response, without the URL.
func noResponse(err error) *notification.Failure {
	f := &notification.Failure{Message: "the connection ended before a response", Remedy: "Check the host, the network and the proxy."}
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var operation *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.As(err, &f): // of a proxy
		return f
	case errors.Is(err, context.Canceled):
		f.Message = "the attempt was canceled"
	case errors.As(err, &dns) && dns.IsNotFound:
		f.Message = "host " + dns.Name + " was not found"
	case dns != nil:
		f.Message = "the DNS lookup of host " + dns.Name + " failed"
	case errors.As(err, &timeout) && timeout.Timeout():
		f.Message = "no response in time"
	case errors.As(err, &certificate):
		f.Message, f.Remedy = "the certificate is not trusted: "+certificate.Err.Error(), certificateRemedy(certificate)
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		f.Message, f.Remedy = "the proxy cannot be reached: "+operation.Err.Error(), "Check HTTPS_PROXY, HTTP_PROXY and NO_PROXY, and that the proxy runs."
	case errors.As(err, &operation):
		f.Message = operation.Error()
	}
	return f
}

// certificateRemedy depends on what is wrong: a private CA, or the certificate itself.
func certificateRemedy(err error) string {
	var authority x509.UnknownAuthorityError
	if errors.As(err, &authority) {
		return "Add the CA of the receiver, or of the proxy, to those that this machine trusts. On Linux, SSL_CERT_DIR can name a directory with it."
	}
	return "Check the host in the URL, the certificate of the receiver, and the clock of this machine."
}

// ofProxy returns the failure of a response of the proxy. The receiver got nothing.
func ofProxy(status int) *notification.Failure {
	f := &notification.Failure{
		Code: "HTTP " + strconv.Itoa(status), Message: "the proxy refused the connection: " + http.StatusText(status),
		Remedy: "Permit the host of the receiver in the proxy, or add the host to NO_PROXY.",
	}
	switch {
	case status == http.StatusProxyAuthRequired:
		f.Message = "the proxy requires a user and a password"
		f.Remedy = "Set both in HTTPS_PROXY, for http addresses in HTTP_PROXY, such as http://USER:PASSWORD@HOST:PORT. " +
			"Or add the host of the receiver to NO_PROXY."
	case status >= 500:
		f.Message = "the proxy cannot reach the receiver: " + http.StatusText(status)
		f.Remedy = "Check the host in the URL, and the network of the proxy."
	}
	return f
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
	for _, secret := range secrets {
		if len(secret) >= 8 || secret == d.Secret && secret != "" {
			f.Message = strings.ReplaceAll(f.Message, secret, "***")
			f.Code = strings.ReplaceAll(f.Code, secret, "***")
		}
	}
	f.Message = plain(f.Message, 300)
	return f
}

// short reports whether a body is a single word, such as a code.
func short(body []byte) bool {
	return len(body) > 0 && len(body) <= 60 && len(bytes.Trim(body, "abcdefghijklmnopqrstuvwxyz_")) == 0
}
