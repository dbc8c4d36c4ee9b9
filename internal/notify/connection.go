package notify

import (
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// noResponse returns the failure of a request without a response, without the URL.
func noResponse(err error) *notification.Failure {
	var ofProxy *notification.Failure
	if errors.As(err, &ofProxy) {
		return ofProxy
	}
	return &notification.Failure{Reason: connectionReason(err)}
}

func connectionReason(err error) reason.Reason {
	var dns *net.DNSError
	var certificate *tls.CertificateVerificationError
	var operation *net.OpError
	var timeout interface{ Timeout() bool }
	switch {
	case errors.Is(err, context.Canceled):
		return reason.AttemptCanceled()
	case errors.As(err, &dns) && dns.IsNotFound:
		return reason.HostNotFound(reason.NewForeign(dns.Name))
	case dns != nil:
		return reason.LookupFailed(reason.NewForeign(dns.Name))
	case errors.As(err, &timeout) && timeout.Timeout():
		return reason.NoResponse()
	case errors.As(err, &certificate):
		return certificateReason(certificate)
	case errors.As(err, &operation) && operation.Op == "proxyconnect":
		return reason.ProxyUnreachable(reason.Failure(operation.Err))
	case errors.As(err, &operation):
		return reason.ConnectionFailed(reason.Failure(operation))
	}
	return reason.ConnectionEnded()
}

// certificateReason depends on what is wrong: a private CA, or the certificate itself.
func certificateReason(err *tls.CertificateVerificationError) reason.Reason {
	var authority x509.UnknownAuthorityError
	if errors.As(err, &authority) {
		return reason.UnknownAuthority(reason.Failure(err.Err))
	}
	return reason.InvalidCertificate(reason.Failure(err.Err))
}

// ofProxy returns the failure of a response of the proxy. The receiver got nothing.
func ofProxy(status int) *notification.Failure {
	f := &notification.Failure{Code: "HTTP " + strconv.Itoa(status)}
	text := reason.Word(cmp.Or(http.StatusText(status), strconv.Itoa(status)))
	switch {
	case status == http.StatusProxyAuthRequired:
		f.Reason = reason.ProxyLogin()
	case status >= 500:
		f.Reason = reason.ProxyFails(text)
	default:
		f.Reason = reason.ProxyRefused(text)
	}
	return f
}
