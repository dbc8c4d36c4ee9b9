package serve_test

import (
	"fmt"
	"html"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
)

// page returns the HTML of a page that must be 200.
func page(t testing.TB, h http.Handler, path string, headers ...string) string {
	t.Helper()
	w := ask(t, h, http.MethodGet, path, "", headers...)
	if w.Code != http.StatusOK || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Fatalf("GET %s: %d %s %s", path, w.Code, w.Header().Get("Content-Type"), w.Body)
	}
	return w.Body.String()
}

func wantIn(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if !strings.Contains(text, word) {
			t.Errorf("%q is missing in:\n%s", word, text)
		}
	}
}

func wantNotIn(t testing.TB, text string, words ...string) {
	t.Helper()
	for _, word := range words {
		if strings.Contains(text, word) {
			t.Errorf("%q is in:\n%s", word, text)
		}
	}
}

func TestPagesShowWhatTheAPIReads(t *testing.T) {
	t.Parallel()
	d := teams(t)
	h := handler(d.Process())
	overview := page(t, h, "/")
	wantIn(t, overview, "budget-ml", "pool-research", `href="/budgets/budget-ml"`, `href="/stockpools/ml/pool-ml"`, "GPU-hours")
	wantIn(t, page(t, h, "/?q=research"), "budget-research")
	wantNotIn(t, page(t, h, "/?q=research"), "budget-ml<")
	wantIn(t, page(t, h, "/budgets/budget-ml"), "GPU-hours by owner", `href="/budgets/budget-ml/decisions"`)
	wantIn(t, page(t, h, "/budgets/budget-ml/decisions"), "what a run decides")
	wantIn(t, page(t, h, "/stockpools/ml/pool-ml"), "stock_pool/ml/pool-ml")
	wantIn(t, page(t, h, "/teams/ml"), "budget-ml", "budget-shared", "pool-ml", "GPU-hours are left", "Events of the last 7 days", "/stockpools/ml/pool-ml")
	wantNotIn(t, page(t, h, "/teams/ml"), "budget-research", "pool-research")
	wantIn(t, page(t, h, "/history?since=35d"), "budget/budget-ml")
	wantIn(t, page(t, h, "/history?since=35d&text=ML/pool-ML"), "stock_pool/ml/pool-ml")
	wantNotIn(t, page(t, h, "/history?since=35d&text=ML/pool-ML"), "budget-research")
	wantIn(t, page(t, h, "/history?since=35d&text=nowhere"), "There are no events.")
	wantIn(t, page(t, h, "/budgets/budget-shared"), `href="/teams/ml"`, `href="/teams/research"`)
	for _, path := range []string{"/budgets/none", "/budgets/none/decisions", "/spotpools/ap-singapore/none", "/stockpools/ml/none"} {
		if w := ask(t, h, http.MethodGet, path, ""); w.Code != http.StatusNotFound || !strings.Contains(w.Body.String(), "There is no such object") {
			t.Errorf("GET %s: %d %s", path, w.Code, w.Body)
		}
	}
}

// TestPagesLoadOnlyFilesOfTheServer also follows each link of each page.
func TestPagesLoadOnlyFilesOfTheServer(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process())
	links := regexp.MustCompile(`(?:href|src|action)="([^"]*)"`)
	done := map[string]bool{"data:,": true, "/logout": true, "#main": true}
	next := []string{"/"}
	for len(next) > 0 {
		path := strings.ReplaceAll(next[0], "&amp;", "&")
		if next = next[1:]; done[path] {
			continue
		}
		done[path] = true
		if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") {
			t.Errorf("a page refers to %s", path)
			continue
		}
		w := ask(t, h, http.MethodGet, path, "")
		if w.Code != http.StatusOK {
			t.Errorf("GET %s: %d", path, w.Code)
		}
		if policy := w.Header().Get("Content-Security-Policy"); strings.Contains(policy, "unsafe") || !strings.Contains(policy, "default-src 'none'") {
			t.Errorf("GET %s: policy %s", path, policy)
		}
		if strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
			for _, found := range links.FindAllStringSubmatch(w.Body.String(), -1) {
				next = append(next, found[1])
			}
		}
	}
	if len(done) < 12 {
		t.Errorf("only %d addresses were followed", len(done))
	}
}

// TestMarkupInNamesIsText sends markup wherever a reader can, and finds it in texts of the cluster.
func TestMarkupInNamesIsText(t *testing.T) {
	t.Parallel()
	d := teams(t)
	markup := `<script>alert(1)</script>`
	ended := d.Cluster.Start("ml", markup+"ended", 1)
	d.Cluster.Start("ml", markup, 1, func(p *gpu.Pod) {
		p.Owner = &ledger.Owner{Kind: "Job", Name: markup, UID: markup}
		p.Node.Name, p.Labels = markup, map[string]string{markup: markup}
	})
	if _, err := d.Budgets().Grant(t.Context(), "budget-ml", "1", exception.Request{For: time.Hour, Who: "ann" + markup, Why: "why" + markup}); err != nil {
		t.Fatal(err)
	}
	d.Run()
	d.Cluster.Step(time.Minute)
	d.Cluster.Finish(ended)
	d.Run()
	h := handler(d.Process())
	report, err := serve.Report(t.Context(), d.Process(), words{}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	wantNotIn(t, string(report), "<script>alert")
	wantIn(t, page(t, h, "/budgets/budget-ml"), "ml/Job/&lt;script", "ml/&lt;script&gt;alert(1)&lt;/script&gt;ended", "why&lt;script", "ann&lt;script")
	evil := url.QueryEscape(`"><script>alert(1)</script>`)
	for _, path := range []string{
		"/?q=" + evil, "/history?kind=launch&since=24h&text=" + evil, "/teams/" + url.PathEscape("<script>"), "/login?next=" + evil, "/budgets/budget-ml",
		"/budgets/budget-ml/decisions", "/teams/ml", "/history?since=35d", "/?budgets=" + evil, "/history?page=" + evil + "&x=" + evil,
	} {
		wantNotIn(t, page(t, h, path), "<script>alert", `"><script`)
	}
	for _, next := range []string{"https://example.com", "//example.com", `/\example.com`, "/\t/example.com", "javascript:alert(1)"} {
		wantIn(t, page(t, h, "/login?next="+url.QueryEscape(next)), `name="next" value="/"`)
	}
}

func TestATokenOpensPagesAndNotTheAPI(t *testing.T) {
	t.Parallel()
	h := handler(teams(t).Process(), users(t, newQueue()))
	if w := ask(t, h, http.MethodGet, "/teams/ml?x=1", ""); w.Code != http.StatusSeeOther ||
		w.Header().Get("Location") != "/login?next=%2Fteams%2Fml%3Fx%3D1" {
		t.Fatalf("without a token: %d %s", w.Code, w.Header().Get("Location"))
	}
	form := "Content-Type: application/x-www-form-urlencoded"
	if w := ask(t, h, http.MethodPost, "/login", "token=wrong", form); w.Code != http.StatusUnauthorized || w.Header().Get("Set-Cookie") != "" {
		t.Errorf("a wrong token: %d", w.Code)
	}
	if w := ask(t, h, http.MethodPost, "/login", "token=reader", form, "Sec-Fetch-Site: cross-site"); w.Code != http.StatusForbidden {
		t.Errorf("a login from another site: %d", w.Code)
	}
	w := ask(t, h, http.MethodPost, "/login", "token=reader&next=/teams/ml", form)
	set := w.Header().Get("Set-Cookie")
	if w.Code != http.StatusSeeOther || w.Header().Get("Location") != "/teams/ml" {
		t.Fatalf("the login: %d %s", w.Code, w.Body)
	}
	wantIn(t, set, "__Host-", "Secure", "HttpOnly", "SameSite=Lax", "Path=/")
	wantNotIn(t, set, "Domain")
	cookie := "Cookie: " + strings.SplitN(set, ";", 2)[0]
	for name, other := range map[string]string{
		"of another host": strings.Replace(cookie, "__Host-", "", 1), "too long": cookie + strings.Repeat("x", 10_000),
		"empty": "Cookie: __Host-gpupool_token=",
	} {
		if w := ask(t, h, http.MethodGet, "/", "", other); w.Code != http.StatusSeeOther {
			t.Errorf("a cookie that is %s: %d", name, w.Code)
		}
	}
	mine := page(t, h, "/", cookie)
	wantIn(t, mine, "budget-ml", "pool-ml", "Sign out")
	for _, path := range []string{"/", "/history?since=35d", "/teams/research", "/teams/ml", "/budgets/budget-ml", "/history?name=budget-research"} {
		shown := strings.ReplaceAll(page(t, h, path, cookie), `value="budget-research"`, "")
		wantNotIn(t, shown, "budget-research", "pool-research", "budget-shared", "train-research")
	}
	for _, path := range []string{
		"/budgets/budget-research", "/budgets/budget-research/decisions", "/budgets/budget-shared", "/stockpools/research/pool-research",
	} {
		if w := ask(t, h, http.MethodGet, path, "", cookie); w.Code != http.StatusNotFound {
			t.Errorf("GET %s: %d", path, w.Code)
		}
	}
	for _, path := range []string{"/api/v1/budgets", "/metrics"} {
		if w := ask(t, h, http.MethodGet, path, "", cookie); w.Code != http.StatusUnauthorized {
			t.Errorf("a cookie opens %s: %d", path, w.Code)
		}
	}
}

func TestAnEmptyStoreHasAPage(t *testing.T) {
	t.Parallel()
	h := handler(reconciletest.NewFixture(t).Process())
	wantIn(t, page(t, h, "/"), "There is nothing here")
	wantIn(t, page(t, h, "/history"), "There are no events.")
	wantIn(t, page(t, h, "/teams/ml"), "No budget or stock pool of the namespace ml")
}

// TestReportIsOneFile has the same objects, and refers to nothing outside.
func TestReportIsOneFile(t *testing.T) {
	t.Parallel()
	text, err := serve.Report(t.Context(), teams(t).Process(), words{}, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	html := string(text)
	wantIn(t, html, `id="about-budget/budget-ml"`, `href="#about-budget/budget-ml"`, "what a run decides", "Events of the last day", "GPU-hours by owner")
	for _, found := range regexp.MustCompile(`(?:href|src|action)="([^"]*)"`).FindAllStringSubmatch(html, -1) {
		to, inside := strings.CutPrefix(found[1], "#")
		if found[1] != "data:," && (!inside || !strings.Contains(html, `id="`+to+`"`)) {
			t.Errorf("the report refers to %s", found[1])
		}
	}
}

// TestLongListsHavePages lists each budget and event once, on the pages of the overview, a team and the history.
func TestLongListsHavePages(t *testing.T) {
	t.Parallel()
	d := reconciletest.NewFixture(t)
	for n := range 55 {
		d.Declare(func(b *budget.Declaration) {
			b.Name, b.Selector = fmt.Sprintf("team-%02d", n), budget.Selector{Namespaces: []string{"ml"}}
		})
	}
	h := handler(d.Process())
	for path, row := range map[string]string{
		"/": `<th scope="row"><a id="budget/(team-\d\d)"`, "/teams/ml": `<h2 id="budget/(team-\d\d)"`, "/history?kind=create": `<td><a href="/budgets/(team-\d\d)"`,
	} {
		listed, pages := map[string]int{}, 0
		for next := path; next != ""; pages++ {
			text := page(t, h, next)
			for _, found := range regexp.MustCompile(row).FindAllStringSubmatch(text, -1) {
				listed[found[1]]++
			}
			next = ""
			if found := regexp.MustCompile(`<a href="([^"]*)">(?:Next|Older)</a>`).FindStringSubmatch(text); found != nil {
				next = html.UnescapeString(found[1])
			}
		}
		if len(listed) != 55 || pages < 2 || slices.Max(slices.Collect(maps.Values(listed))) != 1 {
			t.Errorf("%s: %d pages list %v", path, pages, listed)
		}
	}
	wantIn(t, page(t, h, "/history?kind=create&page=9999"), "There are no events.", "Newer")
	wantIn(t, page(t, h, "/history?page=x"), "budget/team-", "Older")
}
