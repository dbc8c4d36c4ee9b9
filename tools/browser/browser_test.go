// Package browser tries the pages of gpupool serve in a real Chromium.
package browser

import (
	"context"
	"flag"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/performance"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var (
	update = flag.Bool("update", false, "write the screenshots of the docs")
	paint  = flag.Duration("paint", time.Second, "latest first paint of a page")
	axe    = flag.String("axe", "", "file with axe.min.js of the npm package axe-core")
)

// chromium is a browser that ends with the test.
func chromium(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal("Chromium is missing: install it with apt-get install chromium")
	}
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]), chromedp.ExecPath(path), chromedp.NoSandbox)
	allocator, stop := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(allocator)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatalf("starting Chromium: %v", err)
	}
	return ctx
}

// look is how a page is opened.
type look struct {
	width  int64
	dark   bool
	script bool
}

// seen is what the browser reported about a page.
type seen struct {
	mu       sync.Mutex
	bytes    float64
	problems []string
}

func (s *seen) report(format string, args ...any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.problems = append(s.problems, fmt.Sprintf(format, args...))
}

// open opens a page in a tab of its own, and returns the tab.
func open(t *testing.T, browser context.Context, url string, l look, cookies ...*http.Cookie) (context.Context, *seen) {
	t.Helper()
	tab, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	tab, stop := context.WithTimeout(tab, time.Minute)
	t.Cleanup(stop)
	s := &seen{}
	origin := url[:strings.Index(url[8:], "/")+8] // also of a file
	chromedp.ListenTarget(tab, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			s.report("exception: %s", e.ExceptionDetails.Error())
		case *log.EventEntryAdded:
			if e.Entry.Level == log.LevelError || e.Entry.Level == log.LevelWarning {
				s.report("%s: %s", e.Entry.Level, e.Entry.Text)
			}
		case *runtime.EventConsoleAPICalled:
			if e.Type == runtime.APITypeError || e.Type == runtime.APITypeWarning {
				s.report("console: %s", e.Args[0].Value)
			}
		case *network.EventRequestWillBeSent:
			if !strings.HasPrefix(e.Request.URL, origin+"/") && !strings.HasPrefix(e.Request.URL, "data:") {
				s.report("a request to %s", e.Request.URL)
			}
		case *network.EventLoadingFinished:
			s.mu.Lock()
			s.bytes += e.EncodedDataLength
			s.mu.Unlock()
		}
	})
	scheme := "light"
	if l.dark {
		scheme = "dark"
	}
	steps := chromedp.Tasks{
		network.Enable(), log.Enable(), runtime.Enable(), performance.Enable().WithTimeDomain(performance.EnableTimeDomainThreadTicks),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		emulation.SetScriptExecutionDisabled(!l.script),
		emulation.SetTimezoneOverride("Asia/Shanghai"),
		chromedp.EmulateViewport(l.width, 900),
	}
	for _, c := range cookies {
		steps = append(steps, network.SetCookie(c.Name, c.Value).WithURL(origin))
	}
	if err := chromedp.Run(tab, append(steps, chromedp.Navigate(url), chromedp.WaitReady("#main"))...); err != nil {
		t.Fatalf("opening %s: %v", url, err)
	}
	return tab, s
}

// value evaluates a script in a page.
func value[T any](t *testing.T, tab context.Context, script string) (v T) {
	t.Helper()
	await := func(p *runtime.EvaluateParams) *runtime.EvaluateParams { return p.WithAwaitPromise(true) }
	if err := chromedp.Run(tab, chromedp.Evaluate(script, &v, await)); err != nil {
		t.Fatalf("%s: %v", script, err)
	}
	return v
}

// rendering is the processor time of the main thread of a page, in milliseconds.
func rendering(t *testing.T, tab context.Context) float64 {
	t.Helper()
	var used float64
	if err := chromedp.Run(tab, chromedp.ActionFunc(func(ctx context.Context) error {
		metrics, err := performance.GetMetrics().Do(ctx)
		for _, m := range metrics {
			if m.Name == "TaskDuration" {
				used = 1000 * m.Value
			}
		}
		return err
	})); err != nil {
		t.Fatal(err)
	}
	return used
}

// complete waits for what scripts change after the first paint.
func complete(t *testing.T, tab context.Context) {
	t.Helper()
	value[bool](t, tab, `new Promise(done => setInterval(() =>
		document.querySelector("[hx-trigger=load], time:not([title]), [data-chart]:empty") || done(true), 50))`)
}

func (s *seen) verify(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.problems {
		t.Error(p)
	}
	if s.bytes > mostBytes {
		t.Errorf("%.0f bytes were sent, more than %d", s.bytes, mostBytes)
	}
}

// mostBytes is the most that a page may send, with its styles and scripts.
const mostBytes = 150_000

// violations are what axe finds in a page.
func violations(t *testing.T, tab context.Context) []string {
	t.Helper()
	if *axe == "" {
		t.Fatal("axe is missing: run make browser, or set -axe to axe.min.js of the npm package axe-core")
	}
	script, err := os.ReadFile(*axe)
	if err != nil {
		t.Fatal(err)
	}
	if err := chromedp.Run(tab, chromedp.Evaluate(string(script), nil)); err != nil {
		t.Fatal(err)
	}
	return value[[]string](t, tab, `axe.run().then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.map(n => n.html).join(" | ").slice(0, 600)))`)
}

// screenshot writes a picture of a page for the docs.
func screenshot(t *testing.T, tab context.Context, name string) {
	t.Helper()
	if !*update {
		return
	}
	// The directory of the test is not of interest.
	value[bool](t, tab, `(() => { const all = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)
		while (all.nextNode()) all.currentNode.data = all.currentNode.data.replace(/directory:\/\S*\/store/g, "directory:.gpupool")
		return true })()`)
	var picture []byte
	if err := chromedp.Run(tab, chromedp.CaptureScreenshot(&picture)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join("..", "..", "docs", "images", name+".png"), picture, 0o644); err != nil { //nolint:gosec // a picture for everybody
		t.Fatal(err)
	}
}
