package browser

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

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
	{"budgets", "/budgets", false},
	{"teams", "/teams", false},
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
				complete(t, tab)
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

// TestKeyboard reaches every control of each page by the tab key, in the order of the page, and sees where
// it is. The first one skips to the content.
func TestKeyboard(t *testing.T) {
	url := start(t, story(t), access.Operator{})
	browser := chromium(t)
	for _, p := range pages {
		tab, _ := open(t, browser, url+p.path, look{1280, false, true})
		complete(t, tab)
		controls := value[[]string](t, tab, `(window.controls = [...document.querySelectorAll("a[href], button, input:not([type=hidden]), select, [tabindex='0']")])
			.map(e => e.outerHTML.slice(0, 200))`)
		if !strings.Contains(controls[0], `href="#main"`) {
			t.Errorf("%s: the first control is %s", p.name, controls[0])
		}
		if p.name == "login" { // it begins in its form
			continue
		}
		for n, control := range controls {
			if err := chromedp.Run(tab, chromedp.KeyEvent("\t")); err != nil {
				t.Fatal(err)
			}
			if at := value[int](t, tab, `controls.indexOf(document.activeElement)`); at != n {
				t.Errorf("%s: stop %d is %s instead of %s", p.name, n, value[string](t, tab, `document.activeElement.outerHTML.slice(0, 200)`), control)
				break
			}
			if !value[bool](t, tab, `parseFloat(getComputedStyle(document.activeElement).outlineWidth) >= 2 &&
				getComputedStyle(document.activeElement).outlineStyle !== "none"`) {
				t.Errorf("%s: the focus on %s is invisible", p.name, control)
			}
		}
	}
}

// TestWithoutJavaScript follows links and sends a form.
func TestWithoutJavaScript(t *testing.T) {
	url := start(t, story(t), access.Operator{})
	tab, _ := open(t, chromium(t), url+"/?q=research", look{1280, false, false})
	read := func(steps ...chromedp.Action) (text string) {
		t.Helper()
		ctx, cancel := context.WithTimeout(tab, 20*time.Second)
		defer cancel()
		if err := chromedp.Run(ctx, append(steps, chromedp.Text("main", &text))...); err != nil {
			t.Fatal(err)
		}
		return text
	}
	if text := read(); !strings.Contains(text, "team-research") || strings.Contains(text, "team-ml") || !strings.Contains(text, "UTC") {
		t.Errorf("the filtered overview: %s", text)
	}
	text := read(chromedp.Click(`//a[text()="team-research"]`), chromedp.WaitVisible(`//dt[text()="Recovers"]`))
	if !strings.Contains(text, "The highest usage since") || !strings.Contains(text, "(no owner)") {
		t.Errorf("the budget: %s", text)
	}
	text = read(chromedp.Click(`//a[contains(@href, "/decisions")]`), chromedp.WaitVisible("pre", chromedp.ByQuery))
	if !strings.Contains(text, "GPU-hours used") {
		t.Errorf("the decisions: %s", text)
	}
}

// TestStoreGoesAway while a page is open: it says that it is old, and goes on when the store is back.
func TestStoreGoesAway(t *testing.T) {
	w := story(t)
	fragile := &fragileStore{Store: w.Store}
	w.Store = fragile
	tab, _ := open(t, chromium(t), start(t, w, access.Operator{})+"/", look{1280, false, true})
	wait := func(shown bool) {
		t.Helper()
		script := fmt.Sprintf(`new Promise(done => setInterval(() => {
			if (document.getElementById("stale").hidden !== %t) return done(true)
			htmx.ajax("GET", location.href, {source: "#main", target: "#main", select: "#main", swap: "outerHTML"}) // sooner than by itself
		}, 500))`, shown)
		value[bool](t, tab, script)
		if text := value[string](t, tab, `document.querySelector("main").innerText`); !strings.Contains(text, "team-research") {
			t.Errorf("the page lacks its content: %s", text)
		}
	}
	fragile.gone.Store(true)
	wait(true)
	fragile.gone.Store(false)
	wait(false)
}

// TestLargeStore shows 1,000 budgets in pages, quickly.
func TestLargeStore(t *testing.T) {
	url := start(t, large(t, 1000), access.Operator{})
	browser := chromium(t)
	open(t, browser, url+"/", look{1280, false, true}) // the first request observes
	tab, s := open(t, browser, url+"/", look{1280, false, true})
	s.verify(t)
	t.Logf("first paint after %.0f ms, %.0f bytes", value[float64](t, tab, firstPaint), s.bytes)
	if rows := value[int64](t, tab, `document.querySelectorAll("tbody th").length`); rows != 20 {
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

func TestEmptyStore(t *testing.T) {
	url := start(t, reconciletest.NewFixture(t).Process(), access.Operator{})
	tab, s := open(t, chromium(t), url+"/", look{1280, false, true})
	s.verify(t)
	if text := value[string](t, tab, `document.querySelector("main").innerText`); !strings.Contains(text, "There is nothing here") {
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
	if !strings.Contains(text, "GPU-hours are left") || strings.Contains(text, "research") || strings.Contains(text, "gpupool usage") {
		t.Error(text)
	}
	cookie := &http.Cookie{Name: page.Cookie(false), Value: "alice"}
	for path, want := range map[string]string{
		"/budgets/team-research": "you may not read it", "/teams/research": "you may not read it", "/?q=team-research": "No name or state contains",
		"/history?since=35d&name=budget/team-research": "There are no events", "/budgets/team-research/decisions": "you may not read it",
	} {
		tab, _ = open(t, browser, url+path, look{1280, false, true}, cookie)
		text := value[string](t, tab, `document.body.innerText`)
		if !strings.Contains(text, want) || strings.Contains(text, "train-0") {
			t.Errorf("%s: %s", path, text)
		}
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
