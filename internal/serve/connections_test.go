package serve_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// certified returns the TLS configuration of a server with a certificate for 127.0.0.1, and that of a client
// that trusts it.
func certified(t *testing.T) (server, client *tls.Config) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	of := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{{127, 0, 0, 1}}}
	public, err := x509.CreateCertificate(rand.Reader, &of, &of, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	crt, file := filepath.Join(dir, "tls.crt"), filepath.Join(dir, "tls.key")
	for name, block := range map[string]*pem.Block{crt: {Type: "CERTIFICATE", Bytes: public}, file: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(name, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if server, err = serve.Certificate(crt, file, func(err error) { t.Error(err) }); err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: public}))
	return server, &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}
}

// TestTLSServesHTTP2 serves clients of HTTP/2 and of HTTP/1.1. On a loopback address cookies are secure,
// too.
func TestTLSServesHTTP2(t *testing.T) {
	t.Parallel()
	config, trusts := certified(t)
	hash := "2bb80d537b1da3e38bd30361aa855686bde0eacd7162fef6a25fe97bf527a25b" // of "secret"
	users, err := access.ParseTokens([]byte("alice " + hash + " reader *\n"))
	if err != nil {
		t.Fatal(err)
	}
	address := listenBy(t, config, handler(teams(t).Process(), func(o *serve.Options) { o.Authenticator = users }))
	for major, protocols := range map[int]func(*http.Protocols){
		1: func(p *http.Protocols) { p.SetHTTP1(true) },
		2: func(p *http.Protocols) { p.SetHTTP2(true) },
	} {
		transport := &http.Transport{TLSClientConfig: trusts.Clone(), Protocols: new(http.Protocols)}
		protocols(transport.Protocols)
		t.Cleanup(transport.CloseIdleConnections)
		client := &http.Client{Transport: transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		for path, code := range map[string]int{"/livez": 200, "/readyz": 200, "/api/v1/budgets": 401, "/metrics": 401, "/": 303} {
			response, err := client.Get("https://" + address + path)
			if err != nil {
				t.Fatalf("HTTP/%d %s: %v", major, path, err)
			}
			_ = response.Body.Close()
			if response.StatusCode != code || response.ProtoMajor != major {
				t.Errorf("HTTP/%d %s: %s by %s", major, path, response.Status, response.Proto)
			}
		}
		response, err := client.PostForm("https://"+address+"/login", url.Values{"token": {"secret"}})
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
		if cookies := response.Cookies(); len(cookies) != 1 || !cookies[0].Secure || !strings.HasPrefix(cookies[0].Name, "__Host-") {
			t.Errorf("HTTP/%d: %s, cookies %v", major, response.Status, cookies)
		}
	}
}

// TestNoClientKeepsOthersOut has one client hold more connections than are served: idle ones, unused ones, or
// unfinished requests. Probes from the same address and another one are served, each by a new connection.
func TestNoClientKeepsOthersOut(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]string{
		"idle":       "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"unused":     "",
		"unfinished": "GET /livez HTTP/1.1\r\n",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := listenBy(t, nil, handler(teams(t).Process()))
			for range 510 {
				conn := dial(t, address, "127.0.0.2")
				if _, err := io.WriteString(conn, begin); err != nil {
					t.Fatal(err)
				}
				if strings.HasSuffix(begin, "\r\n\r\n") {
					if err := answered(conn); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, from := range []string{"127.0.0.1", "127.0.0.2", "127.0.0.3"} {
				probe := http.Client{Timeout: 10 * time.Second, Transport: &http.Transport{
					DisableKeepAlives: true, DialContext: (&net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}).DialContext,
				}}
				for n := range 5 {
					response, err := probe.Get("http://" + address + "/livez")
					if err != nil {
						t.Fatalf("probe %d from %s: %v", n, from, err)
					}
					_ = response.Body.Close()
				}
			}
		})
	}
}

// TestTheHeaviestClientLosesAConnection: of a client with few connections none is closed for another's.
func TestTheHeaviestClientLosesAConnection(t *testing.T) {
	t.Parallel()
	address := listenBy(t, nil, handler(teams(t).Process()))
	const request = "GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n"
	answers := func(conn net.Conn) error {
		if _, err := io.WriteString(conn, request); err != nil {
			return err
		}
		return answered(conn)
	}
	light, heavy := dial(t, address, "127.0.0.3"), dial(t, address, "127.0.0.2")
	for _, conn := range []net.Conn{light, heavy} {
		if err := answers(conn); err != nil {
			t.Fatal(err)
		}
	}
	for range 520 {
		if err := answers(dial(t, address, "127.0.0.2")); err != nil {
			t.Fatal(err)
		}
	}
	if err := answers(light); err != nil {
		t.Errorf("the client with one connection: %v", err)
	}
	if err := answers(heavy); err == nil {
		t.Error("the oldest idle connection of the client with the most is still open")
	}
}

// answered reads a response, and returns an error unless it is 200 OK.
func answered(conn net.Conn) error {
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return err
	}
	_ = response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return errors.New(response.Status)
	}
	return nil
}

// dial connects from a loopback address until the test ends.
func dial(t *testing.T, address, from string) net.Conn {
	t.Helper()
	dialer := net.Dialer{LocalAddr: &net.TCPAddr{IP: net.ParseIP(from)}}
	conn, err := dialer.DialContext(context.WithoutCancel(t.Context()), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// TestBehindProxy serves any host name with secure cookies. A client is who the proxy says; without a
// proxy the header counts for nothing.
func TestBehindProxy(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	for forwarded, want := range map[string]struct{ behind, direct string }{
		"X-Forwarded-For: 192.0.2.7":               {"192.0.2.7", "192.0.2.1:1234"}, // the latter is httptest's
		"X-Forwarded-For: 198.51.100.1, 192.0.2.8": {"192.0.2.8", "192.0.2.1:1234"},
		"Via: proxy": {"192.0.2.1:1234", "192.0.2.1:1234"},
	} {
		for behind, from := range map[bool]string{true: want.behind, false: want.direct} {
			h := handler(teams(t).Process(), func(o *serve.Options) {
				o.BehindProxy, o.Log = behind, slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
			})
			host := "Host: 127.0.0.1"
			if behind {
				host = "Host: gpupool.example.com"
			}
			log.Reset()
			w := ask(t, h, http.MethodGet, "/api/v1/budgets", "", host, forwarded)
			if w.Code != http.StatusOK || !strings.Contains(log.String(), " from="+from+" ") {
				t.Errorf("behind a proxy: %t, %s: %d, and the log is %s", behind, forwarded, w.Code, &log)
			}
		}
	}
	h := handler(teams(t).Process(), func(o *serve.Options) { o.BehindProxy = true })
	form := ask(t, h, http.MethodPost, "/login", "token=secret", "Host: gpupool.example.com", "Content-Type: application/x-www-form-urlencoded")
	if cookie := form.Header().Get("Set-Cookie"); !strings.HasPrefix(cookie, "__Host-") || !strings.Contains(cookie, "Secure") {
		t.Errorf("%d: the cookie is %q", form.Code, cookie)
	}
}
