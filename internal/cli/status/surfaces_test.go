package status

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"html"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/explain"
	"github.com/gpupool/terraform-provider-gpupool/internal/exception"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/reconciletest"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/access"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/page"
	"github.com/gpupool/terraform-provider-gpupool/internal/serve/snapshot"
	"github.com/gpupool/terraform-provider-gpupool/internal/stockpool"
)

// texts are the words of pages.
type texts struct{}

func (texts) Details(r reconcile.StatusReport, tenant bool) (list []page.Section) {
	for _, s := range Details(r, tenant) {
		list = append(list, page.Section{Objects: s.Objects, Lines: s.Lines})
	}
	return list
}

func (texts) Explanation(x reconcile.Explanation, tenant bool) string {
	return explain.PageText(x, tenant)
}

// site is the page of a store.
type site struct {
	*reconciletest.Fixture
	http.Handler
}

// shop has two teams with stock pools, and a freezing budget over both. The user "reader" may read the namespace ml.
func shop(t *testing.T) *site {
	t.Helper()
	d := reconciletest.NewFixture(t)
	for n, team := range []string{"ml", "web"} {
		d.Declare(func(b *budget.Declaration) {
			b.Name, b.Selector, b.GPUHours = "of-"+team, budget.Selector{Namespaces: []string{team}}, "30"
			b.Window, b.Period, b.TimeZone = "", "month", "Asia/Shanghai"
		})
		for of := range 2 {
			pool := stockpool.Declaration{
				Name: fmt.Sprint("pool-", of), Namespace: team, SpecName: "g1.1", Image: "registry.example.com/team/runtime:1", Memory: "16Gi",
				GPU: 1, Replicas: 1,
				AllocatedSelector: "session",
			}
			if _, err := d.Process().StockPools().Create(t.Context(), pool.WithDefaults(), 0); err != nil {
				t.Fatal(err)
			}
		}
		d.Cluster.Start(team, "train", int64(n+2))
	}
	d.Declare(func(b *budget.Declaration) {
		b.Name, b.Selector, b.GPUHours, b.Thresholds = "shared", budget.Selector{Namespaces: []string{"ml", "web"}}, "7", []int{50}
		b.Enforce.Action = budget.Freeze
	})
	d.Run()
	return &site{Fixture: d}
}

// measured goes on for a while, and runs.
func (s *site) measured(step time.Duration) {
	s.Cluster.Step(step)
	s.Run()
	s.Handler = nil
}

// get returns a page, and its code. A reader without a name is the operator.
func (s *site) get(t *testing.T, user, path string, headers ...string) (int, string) {
	t.Helper()
	if s.Handler == nil {
		w := s.Process()
		sum := sha256.Sum256([]byte("reader"))
		all := sha256.Sum256([]byte("operator"))
		tokens, err := access.ParseTokens(fmt.Appendf(nil, "reader %s reader ml\noperator %s reader *", hex.EncodeToString(sum[:]), hex.EncodeToString(all[:])))
		if err != nil {
			t.Fatal(err)
		}
		s.Handler = serve.Handler(serve.Options{
			Source: snapshot.New(w), Authenticator: tokens, Version: "1.2.3", Jobs: w.Jobs(), Words: texts{},
			Log: slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelWarn})),
		})
	}
	r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "http://127.0.0.1"+path, nil)
	r.Header.Set("Authorization", "Bearer "+user)
	r.Header.Set("Accept", "text/html")
	for n := 0; n+1 < len(headers); n += 2 {
		r.Header.Set(headers[n], headers[n+1])
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// complete is a page with what it reads in the background.
func (s *site) complete(t *testing.T, user, path, part string) string {
	t.Helper()
	for began := time.Now(); ; time.Sleep(20 * time.Millisecond) {
		_, text := s.get(t, user, path)
		if strings.Contains(text, part) || time.Since(began) > 10*time.Second {
			return text
		}
	}
}

var (
	tags    = regexp.MustCompile(`<[^>]*>`)
	instant = regexp.MustCompile(`<time datetime="([^"]*)">[^<]*</time>`)
)

func plainText(markup string) string {
	_, markup, _ = strings.Cut(markup, "</head>")
	return html.UnescapeString(tags.ReplaceAllString(instant.ReplaceAllString(markup, "$1"), " "))
}

// facts are what a surface says about a budget.
type facts struct{ States, Used, Percent, Limit, Left, AsOf, MostUsing string }

// pick returns the groups of a pattern.
func pick(t *testing.T, text, pattern string) []string {
	t.Helper()
	found := regexp.MustCompile(pattern).FindStringSubmatch(text)
	if found == nil {
		t.Fatalf("no %s in\n%s", pattern, text)
	}
	return found[1:]
}

// surfaces reads what each surface says about the budget shared.
func (s *site) surfaces(t *testing.T) map[string]facts {
	t.Helper()
	all := map[string]facts{}
	runner := s.Process().Runner()
	report, err := runner.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	x, err := runner.Explain(t.Context(), "budget/shared")
	if err != nil {
		t.Fatal(err)
	}
	asOf := report.At.UTC().Format(time.RFC3339)
	text := text(layout{zone: time.UTC, named: true}, report)
	row := pick(t, text, `(?m)^shared +(\S+) +(\d+%) +(\S+) +(\S+(?: \(\S+ granted\))?) +(\S+) +\S+ +\S+ +0s ago`)
	users := pick(t, text, `by namespace: (.*)`)
	all["status"] = facts{row[0], row[2], row[1], strings.Fields(row[3])[0], row[4], asOf, users[0]}

	text = explain.PageText(x, false)
	row = pick(t, text, `^budget/shared at \S+: (\S+)\n +(\S+) of (\S+) GPU-hours used \((\d+%)\).*as of (\S+)\n`)
	namespaces := pick(t, text, `NAMESPACE +GPU-HOURS\n +web +(\S+)\n +ml +(\S+)`)
	shared := all["status"].MostUsing
	if !strings.Contains(shared, "web "+namespaces[0]) || !strings.Contains(shared, "ml "+namespaces[1]) {
		t.Errorf("explain has %v by namespace, status %s", namespaces, shared)
	}
	all["explain"] = facts{row[0], row[1], row[3], row[2], all["status"].Left, row[4], shared}

	text = plainText(s.complete(t, "operator", "/budgets/shared", "by owner"))
	row = pick(t, text, `budget/shared\s+((?:[A-Z][A-Za-z]+\s+)+)Used\s+(\d+%)\s+GPU-hours\s+(\S+)\s+Limit\s+(\S+)\s+Left\s+(\S+)\s`+
		`[\s\S]*As of\s+(\S+)[\s\S]*by namespace: (.*?)(?:  |\n)`)
	all["budget page"] = facts{strings.Join(strings.Fields(row[0]), ","), row[2], row[1], row[3], row[4], row[5], row[6]}
	owners := pick(t, text, `GPU-hours by owner, as of (\S+)`)
	if owners[0] != row[5] {
		t.Errorf("the budget page has numbers as of %s, and by owner as of %s", row[5], owners[0])
	}
	_, decisions := s.get(t, "operator", "/budgets/shared/decisions")
	row = pick(t, plainText(decisions), `From a dry run, as of (\S+)\.\s+budget/shared at \S+: (\S+)\n +(\S+) of (\S+) GPU-hours used \((\d+%)\)`)
	all["decisions"] = facts{row[1], row[2], row[4], row[3], all["status"].Left, row[0], shared}

	text = plainText(s.complete(t, "operator", "/teams/ml", "by owner"))
	row = pick(t, text, `budget/shared\s+((?:[A-Z][A-Za-z]+\s+)+)(\S+) GPU-hours are left\s+of (\S+) \(24h\), as of (\S+)\.\s+ml used (\S+) of the (\S+)\.`)
	if !strings.Contains(shared, "ml "+row[4]+" ") {
		t.Errorf("the team used %s by its page, status says %s", row[4], shared)
	}
	all["team page"] = facts{strings.Join(strings.Fields(row[0]), ","), row[5], all["status"].Percent, row[2], row[1], row[3], shared}
	return all
}

// TestSurfacesAgree reads the page of a budget and of a team, status and explain at one moment. The budget is near its limit,
// above it, or has a grant.
func TestSurfacesAgree(t *testing.T) {
	t.Parallel()
	s := shop(t)
	s.measured(61 * time.Minute)
	for n, states := range []string{"NearLimit", "Exceeded,Frozen", "NearLimit"} {
		switch n {
		case 1:
			s.measured(time.Hour)
			s.measured(time.Minute) // which observes the freeze
		case 2:
			if _, err := s.Budgets().Grant(t.Context(), "shared", "7", exception.Request{For: time.Hour, Who: "ann", Why: "a deadline"}); err != nil {
				t.Fatal(err)
			}
			s.measured(time.Minute)
		}
		all := s.surfaces(t)
		if all["status"].States != states {
			t.Errorf("the budget is %s, want %s", all["status"].States, states)
		}
		for surface, of := range all {
			if diff := cmp.Diff(all["status"], of); diff != "" {
				t.Errorf("status (-) and %s (+) of a budget that is %s:\n%s", surface, states, diff)
			}
		}
	}
}

// TestAnotherMomentIsLabeled measures with a dry run later than the last run.
func TestAnotherMomentIsLabeled(t *testing.T) {
	t.Parallel()
	s := shop(t)
	s.measured(61 * time.Minute)
	run := s.Cluster.Now()
	s.Cluster.Step(30 * time.Minute)
	_, text := s.get(t, "operator", "/budgets/shared")
	if row := pick(t, plainText(text), `As of\s+(\S+)`); row[0] != run.UTC().Format(time.RFC3339) {
		t.Errorf("the numbers of the last run are as of %s", row[0])
	}
	_, text = s.get(t, "operator", "/budgets/shared/decisions")
	if row := pick(t, plainText(text), `From a dry run, as of (\S+)\.`); row[0] != s.Cluster.Now().UTC().Format(time.RFC3339) {
		t.Errorf("the numbers of the dry run are as of %s", row[0])
	}
	for path, word := range map[string]string{"/budgets/shared": "limit expected", "/teams/ml": "nothing was expected to be left"} {
		_, text = s.get(t, "operator", path) // 5 GPUs reach the limit after 84 minutes
		of, _, _ := strings.Cut(text, `id="budget/of-ml"`)
		if strings.Contains(of, "at the current rate") || strings.Contains(of, "At the present rate") || !strings.Contains(of, word) {
			t.Errorf("%s has a forecast for a time that is over:\n%s", path, plainText(text))
		}
	}
	if _, text = s.get(t, "operator", "/budgets"); !strings.Contains(text, `low=".5" high="100" optimum="0" value="72"`) {
		t.Errorf("the bar of a budget near its limit looks as if it were not:\n%s", text)
	}
}

// TestTenantsReadNothingForOperators: a reader of one namespace gets no paths, no addresses and no commands, and learns
// that a budget of others limits the team.
func TestTenantsReadNothingForOperators(t *testing.T) {
	t.Parallel()
	s := shop(t)
	s.measured(61 * time.Minute)
	paths := []string{
		"/", "/budgets", "/spotpools", "/stockpools", "/teams", "/budgets/of-ml", "/budgets/of-ml/decisions", "/budgets/shared", "/teams/ml",
		"/stockpools/ml/pool-0",
		"/stockpools/ml/pool-0/decisions", "/history?since=35d", "/budget", "/api/v1/spotpools",
	}
	verify := func() {
		t.Helper()
		for _, path := range []string{"/api/v1/budgets", "/api/v1/stockpools", "/api/v1/history?since=35d", "/api/v1/explain/budget/of-ml"} {
			if code, text := s.get(t, "reader", path); code != http.StatusOK || strings.Contains(text, s.Dir) {
				t.Errorf("GET %s has the path of the store: %d %s", path, code, text)
			}
		}
		for _, path := range paths {
			_, text := s.get(t, "reader", path)
			text = strings.ReplaceAll(text, "/api/v1/", "")
			for _, word := range []string{
				s.Dir, "directory:", "10.0.0.1", "gpupool reconcile", "gpupool history", "gpupool grant", "gpupool explain", "terraform", "kubectl", "to do:",
				"To do:", "role requester", "of-web", "web/",
			} {
				if strings.Contains(text, word) {
					t.Errorf("GET %s has %q:\n%s", path, word, plainText(text))
				}
			}
		}
	}
	verify()
	s.measured(2 * time.Hour)
	verify()
	for _, path := range []string{"/", "/teams/ml"} {
		if _, text := s.get(t, "reader", path); !strings.Contains(plainText(text), "also counts the pods of ml:  Exceeded   Freezing") {
			t.Errorf("GET %s does not say what limits the team:\n%s", path, plainText(text))
		}
		if _, text := s.get(t, "operator", path); strings.Contains(text, "you may not read") {
			t.Errorf("GET %s hides something from the operator", path)
		}
	}
	s.Cluster.Failing["UID"] = errors.New(`Get "https://10.0.0.1:6443/api/v1/namespaces": dial tcp 10.0.0.1:6443: connection refused`)
	s.Cluster.Step(3 * time.Hour)
	if _, err := s.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Handler = nil
	verify()
	if _, text := s.get(t, "reader", "/teams/ml"); !strings.Contains(text, "the last run") || !strings.Contains(text, "Failing") {
		t.Errorf("the team does not learn that runs fail:\n%s", plainText(text))
	}
}

// TestOneOutageIsPrintedOnce for all objects, with one remedy.
func TestOneOutageIsPrintedOnce(t *testing.T) {
	t.Parallel()
	s := shop(t)
	s.measured(time.Minute)
	s.Cluster.Failing["UID"] = errors.New("dial tcp 10.0.0.1:6443: connection refused")
	s.Cluster.Step(time.Minute)
	if _, err := s.Runner().Run(context.Background(), reconcile.RunOptions{}); err != nil {
		t.Fatal(err)
	}
	s.Handler = nil
	report, err := s.Runner().Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	once := func(surface, text string) {
		t.Helper()
		if causes, remedies := strings.Count(text, "connection refused"), strings.Count(text, "Fix the cause"); causes != 1 || remedies != 1 {
			t.Errorf("%s has the cause %d times and the remedy %d times:\n%s", surface, causes, remedies, text)
		}
	}
	text := text(layout{zone: time.UTC, named: true}, report)
	once("status", text)
	if !strings.Contains(text, "budget/of-ml, budget/of-web, budget/shared and 4 more\n") {
		t.Errorf("status does not say what fails:\n%s", text)
	}
	x, err := s.Runner().Explain(t.Context(), "budget/shared")
	if first, _, _ := strings.Cut(explain.PageText(x, false), "\n"); err != nil || !strings.HasSuffix(first, ": Failing") {
		t.Errorf("explain has other states than status: %s (%v)", first, err)
	}
	_, markup := s.get(t, "operator", "/")
	once("the overview", plainText(markup))
	if !strings.Contains(markup, "7 objects fail alike") {
		t.Errorf("the overview does not count them:\n%s", plainText(markup))
	}
}

// TestUnknownPages are pages with links for people, and JSON for programs.
func TestUnknownPages(t *testing.T) {
	t.Parallel()
	s := shop(t)
	for _, path := range []string{"/budgets", "/spotpools", "/stockpools", "/teams"} {
		if code, text := s.get(t, "operator", path); code != http.StatusOK || !strings.Contains(text, "<!doctype html>") {
			t.Errorf("GET %s: %d %s", path, code, text)
		}
	}
	if _, text := s.get(t, "operator", "/teams"); !strings.Contains(text, `href="/teams/ml"`) || !strings.Contains(text, `href="/teams/web"`) {
		t.Errorf("the teams are %s", plainText(text))
	}
	code, text := s.get(t, "operator", "/budget/shared")
	if code != http.StatusNotFound || !strings.Contains(text, "There is no page /budget/shared") || !strings.Contains(text, `href="/budgets"`) {
		t.Errorf("a mistyped path: %d %s", code, text)
	}
	for _, path := range []string{"/budget/shared", "/api/v1/budget"} {
		if code, text := s.get(t, "operator", path, "Accept", "application/json"); code != http.StatusNotFound || !strings.HasPrefix(text, `{"title":"Not Found"`) {
			t.Errorf("GET %s as a program: %d %s", path, code, text)
		}
	}
	if code, text := s.get(t, "operator", "/api/v1/budget"); code != http.StatusNotFound || !strings.HasPrefix(text, `{"title":"Not Found"`) {
		t.Errorf("an unknown path of the API: %d %s", code, text)
	}
}
