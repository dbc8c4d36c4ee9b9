package browser

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
)

// TestFirstPaint of each page of a store with 1,000 budgets, 1,000 spot pools and 1,000 stock pools. A page that
// is only a heading has the part of the browser. The first reader waits for an observation; the others do not.
func TestFirstPaint(t *testing.T) {
	w := huge(t)
	url := start(t, w, access.Operator{})
	heading := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>heading</title><h1 id=main>A page that is only a heading</h1>")
	}))
	defer heading.Close()
	browser := chromium(t)
	const opened = 5
	for _, p := range []string{
		"/", "/?budgets=20", "/?q=pool-07", "/budgets/team-0007", "/spotpools/ap-singapore/pool-0007", "/stockpools/ml/stock-0007", "/teams/ml",
		"/history?since=35d", "/login",
	} {
		var pages, headings painted
		for n := range opened + 1 {
			pages.open(t, browser, url+p, n > 0)
			headings.open(t, browser, heading.URL+"/", n > 0)
		}
		at, least := median(pages.times), median(headings.times)
		t.Logf("%-34s first paint %4.0f ms, %.1f times the %3.0f ms of a heading; response %4.0f ms; processor time until all is drawn %4.0f ms; %3.0f kB",
			p, at, at/least, least, median(pages.responses), median(pages.used), pages.sent/1000)
		if at > float64(paint.Milliseconds()) {
			t.Errorf("%s: the first paint is after %.0f ms", p, at)
		}
	}
}

// painted is how long a page took, each time that it was opened, in milliseconds.
type painted struct {
	times, responses, used []float64
	sent                   float64 // bytes of the first visit
}

func (p *painted) open(t *testing.T, browser context.Context, url string, counts bool) {
	t.Helper()
	tab, s := open(t, browser, url, look{1280, false, true})
	s.verify(t)
	at := value[float64](t, tab, firstPaint)
	complete(t, tab)
	if counts {
		p.times, p.used = append(p.times, at), append(p.used, rendering(t, tab))
		p.responses = append(p.responses, value[float64](t, tab, `performance.getEntriesByType("navigation")[0].responseEnd`))
	}
	p.sent = max(p.sent, s.bytes)
	if err := chromedp.Cancel(tab); err != nil {
		t.Fatal(err)
	}
}

func median(values []float64) float64 {
	slices.Sort(values)
	return values[len(values)/2]
}

const firstPaint = `new Promise(done => new PerformanceObserver(l => {
	const e = l.getEntriesByName("first-contentful-paint")[0]
	if (e) done(e.startTime)
}).observe({type: "paint", buffered: true}))`
