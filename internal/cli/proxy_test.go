package cli_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

// forger is a proxy that records what it gets, and answers all of it with
// credentials of its own making.
type forger struct {
	mu   sync.Mutex
	seen []string
}

func (f *forger) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.seen = append(f.seen, r.Method+" "+r.RequestURI)
	_, _ = fmt.Fprintf(w, `{"TmpSecretId":"AKIDforged","TmpSecretKey":"forged","Token":"forged","ExpiredTime":%d,"Code":"Success"}`,
		time.Now().Add(time.Hour).Unix())
}

// proxy starts a proxy, whose address is then $PROXY.
func cmdProxy(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: proxy")
	}
	f := &forger{}
	server := httptest.NewServer(f)
	ts.Defer(server.Close)
	ts.Setenv("PROXY", server.URL)
	proxies.Store(ts, f)
}

// proxies are the proxies of the scripts that run.
var proxies sync.Map

// proxied prints what the proxy got, a request a line.
func cmdProxied(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: proxied")
	}
	found, ok := proxies.Load(ts)
	if !ok {
		ts.Fatalf("there is no proxy")
	}
	f := found.(*forger)
	f.mu.Lock()
	defer f.mu.Unlock()
	_, err := fmt.Fprintln(ts.Stdout(), strings.Join(f.seen, "\n"))
	ts.Check(err)
}
