package notify_test

import (
	"crypto/x509"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/notify"
)

// by returns a sender that uses a proxy.
func by(t *testing.T, proxy string) notify.Sender {
	t.Helper()
	u, err := url.Parse(proxy)
	if err != nil {
		t.Fatal(err)
	}
	return notify.Sender{Client: &http.Client{Transport: &http.Transport{Proxy: http.ProxyURL(u)}}}
}

// TestProxiesThatRefuseAreExplained, for receivers with and without TLS: nothing reached the receiver.
func TestProxiesThatRefuseAreExplained(t *testing.T) {
	t.Parallel()
	for status, want := range map[int]struct{ message, remedy string }{
		http.StatusProxyAuthRequired: {"the proxy requires a user and a password", "HTTPS_PROXY"},
		http.StatusForbidden:         {"the proxy refused the connection: Forbidden", "NO_PROXY"},
		http.StatusBadGateway:        {"the proxy cannot reach the receiver: Bad Gateway", "the network of the proxy"},
	} {
		proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(status) }))
		t.Cleanup(proxy.Close)
		for _, address := range []string{"https://alerts.example.com/hook", "http://alerts.example.com/hook"} {
			if status != http.StatusProxyAuthRequired && strings.HasPrefix(address, "http:") {
				continue // a receiver responds with these, too
			}
			for _, kind := range types(t) {
				d := notification.Declaration{Name: "ops", Type: kind, URL: address, Secret: secretOf(kind)}
				f := failure(t, by(t, proxy.URL).Send(t.Context(), d, message(exceeded())))
				if f.Error() != f.Code+": "+want.message || !strings.Contains(f.Remedy(), want.remedy) || f.Code == "" || f.Uncertain {
					t.Errorf("%s, %s, HTTP %d: the failure is %+v", kind, address, status, *f)
				}
			}
		}
	}
}

// TestProxiesCanBeUsed: what a proxy forwards arrives.
func TestProxiesCanBeUsed(t *testing.T) {
	t.Parallel()
	server, d, _, c := receiver(t, notification.WeCom)
	proxy := httptest.NewServer(server)
	t.Cleanup(proxy.Close)
	sender := by(t, proxy.URL)
	sender.Now = c.now
	if err := sender.Send(t.Context(), d, message(exceeded())); err != nil || len(server.Arrivals()) != 1 {
		t.Errorf("%v, arrived: %+v", err, server.Arrivals())
	}
}

// TestUntrustedCertificatesAreExplained: a private CA, and a certificate of another host.
func TestUntrustedCertificatesAreExplained(t *testing.T) {
	t.Parallel()
	web := httptest.NewUnstartedServer(http.NotFoundHandler())
	web.Config.ErrorLog = log.New(io.Discard, "", 0)
	web.StartTLS()
	t.Cleanup(web.Close)
	trusting := web.Client().Transport.(*http.Transport).Clone()
	trusting.TLSClientConfig.ServerName = "other.invalid"
	unknown := web.Client().Transport.(*http.Transport).Clone()
	unknown.TLSClientConfig.RootCAs = x509.NewCertPool()
	for want, transport := range map[string]*http.Transport{"Add the CA of the receiver": unknown, "Check the host in the URL": trusting} {
		d := notification.Declaration{Name: "ops", Type: notification.Slack, URL: web.URL}
		f := failure(t, notify.Sender{Client: &http.Client{Transport: transport}}.Send(t.Context(), d, message(exceeded())))
		if !strings.Contains(f.Error(), "the certificate is not trusted") || !strings.HasPrefix(f.Remedy(), want) || f.Uncertain {
			t.Errorf("want %q, the failure is %+v", want, *f)
		}
	}
}

// TestUnreachableProxiesAreNamed, instead of the receiver.
func TestUnreachableProxiesAreNamed(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	d := notification.Declaration{Name: "ops", Type: notification.Slack, URL: "https://hooks.example.com/T"}
	f := failure(t, by(t, "http://"+l.Addr().String()).Send(t.Context(), d, message(exceeded())))
	want := "the proxy cannot be reached: dial tcp " + l.Addr().String()
	if !strings.HasPrefix(f.Error(), want) || !strings.Contains(f.Remedy(), "HTTPS_PROXY") {
		t.Errorf("the failure is %+v", *f)
	}
}
