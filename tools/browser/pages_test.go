package browser

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
)

// pages are the paths of all kinds of pages.
var pages = []struct {
	name, path string
	pictured   bool // in the docs
}{
	{"overview", "/", true},
	{"pool", "/spotpools/ap-singapore/train", false},
	{"budget", "/budgets/team-research", true},
	{"stock-pool", "/stockpools/ml/g1", false},
	{"team", "/teams/ml", true},
	{"history", "/history?since=35d", false},
	{"login", "/login", false},
	{"missing", "/budgets/none", false},
}

// TestPages opens each page in each form: it loads only its own files, has no error, fits the
// width, and axe finds nothing.
func TestPages(t *testing.T) {
	url := start(t, story(t), access.Operator{})
	browser := chromium(t)
	for _, p := range pages {
		for _, l := range []look{{1280, false, true}, {1280, true, true}, {360, false, true}, {360, true, true}, {1280, false, false}} {
			t.Run(fmt.Sprintf("%s at %d, dark %t, script %t", p.name, l.width, l.dark, l.script), func(t *testing.T) {
				tab, s := open(t, browser, url+p.path, l)
				if p.name == "missing" {
					s.problems = nil // the browser reports 404
				}
				s.verify(t)
				if !l.script {
					return
				}
				if wide := value[int64](t, tab, `document.scrollingElement.scrollWidth`); wide > l.width {
					t.Errorf("the page is %d pixels wide", wide)
				}
				for _, v := range violations(t, tab) {
					t.Error(v)
				}
				if times := value[string](t, tab, `[...document.querySelectorAll("main time")].map(e => e.textContent).join("\n")`); strings.Contains(times, "UTC") {
					t.Errorf("times are not local: %s", times)
				}
				if p.name == "budget" && value[int64](t, tab, `document.querySelectorAll(".chart canvas").length`) != 1 {
					t.Error("the chart is not drawn")
				}
				if p.pictured && l == (look{1280, false, true}) {
					screenshot(t, tab, "page-"+p.name)
				}
			})
		}
	}
}

// TestKeyboard reaches every link of a page by the tab key, and the first one skips to the content.
func TestKeyboard(t *testing.T) {
	url := start(t, story(t), access.Operator{})
	tab, _ := open(t, chromium(t), url+"/", look{1280, false, true})
	links := value[[]string](t, tab, `[...document.querySelectorAll("a[href], button, input:not([type=hidden]), select")].map(e => e.outerHTML)`)
	reached := map[string]bool{}
	for n := range 3 * len(links) {
		if err := chromedp.Run(tab, chromedp.KeyEvent("\t")); err != nil {
			t.Fatal(err)
		}
		at := value[string](t, tab, `document.activeElement.outerHTML`)
		if n == 0 && !strings.Contains(at, `href="#main"`) {
			t.Errorf("the first stop is %s", at)
		}
		reached[at] = true
	}
	for _, link := range links {
		if !reached[link] {
			t.Errorf("the keyboard does not reach %s", link)
		}
	}
}

// TestLargeStore shows 1,000 budgets in pages, quickly.
func TestLargeStore(t *testing.T) {
	url := start(t, large(t, 1000), access.Operator{})
	browser := chromium(t)
	open(t, browser, url+"/", look{1280, false, true}) // the first request observes
	tab, s := open(t, browser, url+"/", look{1280, false, true})
	s.verify(t)
	t.Logf("first paint after %.0f ms, %.0f bytes", value[float64](t, tab, firstPaint), s.bytes)
	if rows := value[int64](t, tab, `document.querySelectorAll("tbody th").length`); rows != 100 {
		t.Errorf("%d rows are shown", rows)
	}
	if err := chromedp.Run(tab, chromedp.Click(`//a[text()="Next"]`), chromedp.WaitVisible(`//a[text()="Previous"]`)); err != nil {
		t.Errorf("the next page: %v", err)
	}
	tab, s = open(t, browser, url+"/", look{360, false, true})
	s.verify(t)
	if wide := value[int64](t, tab, `document.scrollingElement.scrollWidth`); wide > 360 {
		t.Errorf("the page is %d pixels wide", wide)
	}
	for _, path := range []string{"/budgets/0000-" + strings.Repeat("long-name-", 4) + "names", "/history"} {
		tab, s = open(t, browser, url+path, look{1280, false, true})
		s.verify(t)
		if title := value[string](t, tab, `document.title`); strings.Contains(title, "broken") {
			t.Error("markup in the name of a pod ran")
		}
	}
}

const firstPaint = `performance.getEntriesByName("first-contentful-paint")[0].startTime`

func TestEmptyStore(t *testing.T) {
	url := start(t, reconciletest.NewFixture(t).Process(), access.Operator{})
	tab, s := open(t, chromium(t), url+"/", look{1280, false, true})
	s.verify(t)
	if text := value[string](t, tab, `document.querySelector("main").innerText`); !strings.Contains(text, "There are no pools and no budgets") {
		t.Error(text)
	}
}

// TestTenant signs in, and finds its own objects only.
func TestTenant(t *testing.T) {
	url := start(t, story(t), tenant(t, "alice", "ml"))
	browser := chromium(t)
	tab, _ := open(t, browser, url+"/teams/ml", look{1280, false, true})
	if err := chromedp.Run(tab, chromedp.SendKeys("#token", "alice\n"), chromedp.WaitVisible(`//strong`)); err != nil {
		t.Fatalf("signing in: %v", err)
	}
	text := value[string](t, tab, `document.body.innerText`)
	if !strings.Contains(text, "GPU-hours are left") || strings.Contains(text, "research") {
		t.Error(text)
	}
	cookie := &http.Cookie{Name: page.Cookie, Value: "alice"}
	tab, _ = open(t, browser, url+"/budgets/team-research", look{1280, false, true}, cookie)
	if text := value[string](t, tab, `document.body.innerText`); !strings.Contains(text, "you may not read it") {
		t.Error(text)
	}
}

// TestReport opens the file without a server.
func TestReport(t *testing.T) {
	text, err := serve.Report(t.Context(), story(t), words{}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	browser := chromium(t)
	for _, l := range []look{{1280, false, true}, {360, true, true}} {
		tab, s := open(t, browser, "file://"+file, l)
		s.bytes = 0 // it comes from the disk
		s.verify(t)
		for _, v := range violations(t, tab) {
			t.Error(v)
		}
		if wide := value[int64](t, tab, `document.scrollingElement.scrollWidth`); wide > l.width {
			t.Errorf("the report is %d pixels wide", wide)
		}
		if charts := value[int64](t, tab, `document.querySelectorAll(".chart canvas").length`); charts < 2 {
			t.Errorf("%d charts are drawn", charts)
		}
	}
}
