package duckdb_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/duckdb/duckdb-go/v2"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/budget/meter"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

const (
	cluster = "5f0c1d2e-9a8b-4c7d-8e6f-001122334455"
	guide   = "../../docs/internals/ledger-format.md"
)

// The statement is of the week before now.
var now = time.Date(2026, 11, 8, 0, 0, 0, 0, time.UTC)

const week = 7 * 24 * time.Hour

func statement(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, found := strings.Cut(string(text), "```sql\n")
	sql, _, closed := strings.Cut(rest, "```")
	if !found || !closed || strings.Contains(rest[len(sql):], "```sql") {
		t.Fatalf("%s has not one statement", guide)
	}
	return sql
}

// TestDuckDBFindsWhatUsagePrints, whatever a run left that was killed between two
// documents.
func TestDuckDBFindsWhatUsagePrints(t *testing.T) {
	asked := statement(t)
	t.Chdir(t.TempDir()) // the statement names the store as it lies in a working directory
	s, err := directory.Open(".gpupool", directory.Options{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	l := load(t, s)
	l.Header.Began = milli(now.Add(-3 * week))
	observe(t, l, now.Add(-2*time.Hour), firstRun())
	save(t, s, l, allSteps)
	compare(t, "after the first run", asked, s)

	steps := len(second(t, s).Write) + len(second(t, s).Delete)
	if steps < 5 {
		t.Fatalf("the second run takes %d steps, too few to be killed between", steps)
	}
	for n := range steps + 1 {
		l := load(t, s)
		observe(t, l, now.Add(-time.Hour), secondRun())
		save(t, s, l, n)
		compare(t, fmt.Sprintf("killed after %d steps of the second run", n), asked, s)
	}
	l = load(t, s)
	observe(t, l, now.Add(-time.Hour), secondRun())
	save(t, s, l, allSteps)
	compare(t, "after the second run", asked, s)
}

func second(t *testing.T, s store.Store) ledger.Changes {
	t.Helper()
	l := load(t, s)
	observe(t, l, now.Add(-time.Hour), secondRun())
	changes, err := l.Changes()
	if err != nil {
		t.Fatal(err)
	}
	return changes
}

// compare asks DuckDB and gpupool for each namespace's usage.
func compare(t *testing.T, when, asked string, s store.Store) {
	t.Helper()
	want, got := usage(t, load(t, s)), query(t, asked)
	for _, namespace := range namespaces {
		if want[namespace] == 0 || got[namespace] != want[namespace] {
			t.Errorf("%s: DuckDB finds %d milli-GPU-seconds of %s, and gpupool %d", when, got[namespace], namespace, want[namespace])
		}
	}
	if len(got) != len(namespaces) {
		t.Errorf("%s: DuckDB finds %v", when, got)
	}
}

// usage is what gpupool counts, by namespace.
func usage(t *testing.T, l *ledger.Ledger) map[string]int64 {
	t.Helper()
	var declarations []budget.Declaration
	for _, namespace := range namespaces {
		declarations = append(declarations, budget.Declaration{
			Name: namespace, GPUHours: "1000", Window: week.String(), Selector: budget.Selector{Namespaces: []string{namespace}},
		})
	}
	used := map[string]int64{}
	for n, result := range meter.Evaluate(declarations, l.All(), l.Header, now, time.LoadLocation) {
		if result.Err != nil {
			t.Fatal(result.Err)
		}
		used[namespaces[n]] = result.Usage.Consumed
	}
	return used
}

// query is what DuckDB finds, by namespace.
func query(t *testing.T, asked string) map[string]int64 {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(asked)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	found := map[string]int64{}
	for rows.Next() {
		var namespace, hours string
		var amount int64
		if err := rows.Scan(&namespace, &amount, &hours); err != nil {
			t.Fatal(err)
		}
		if want := budget.Hours(amount); hours != want {
			t.Errorf("%d milli-GPU-seconds are %s hours, want %s", amount, hours, want)
		}
		found[namespace] = amount
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return found
}

func milli(t time.Time) ledger.Time { return ledger.Time(t.UnixMilli()) }

const allSteps = 1 << 30

func load(t *testing.T, s store.Store) *ledger.Ledger {
	t.Helper()
	docs, err := s.List(t.Context(), store.Ledger)
	if err != nil {
		t.Fatal(err)
	}
	contents := map[string][]byte{}
	for _, doc := range docs {
		contents[strings.TrimPrefix(doc.Key.Name, cluster+"/")] = doc.Data
	}
	l, problems, err := ledger.Load(cluster, contents, milli(now))
	if err != nil || len(problems) > 0 {
		t.Fatal(err, problems)
	}
	return l
}

// save makes the first steps of a run's changes, in the order in which a run does.
func save(t *testing.T, s store.Store, l *ledger.Ledger, steps int) {
	t.Helper()
	changes, err := l.Changes()
	if err != nil {
		t.Fatal(err)
	}
	key := func(name string) store.Key { return store.Key{Kind: store.Ledger, Name: cluster + "/" + name} }
	revision := func(name string) store.Revision {
		doc, err := s.Read(t.Context(), key(name))
		if err != nil {
			return ""
		}
		return doc.Revision
	}
	for _, document := range changes.Write {
		if steps--; steps < 0 {
			return
		}
		if _, err := s.Write(t.Context(), key(document.Name), document.Data, revision(document.Name)); err != nil {
			t.Fatal(err)
		}
		if file := filepath.Join(".gpupool", "ledger", cluster, document.Name); strings.HasSuffix(file, ".parquet") {
			if _, err := os.Stat(file); err != nil {
				t.Error(err)
			}
		}
	}
	for _, name := range changes.Delete {
		if steps--; steps < 0 {
			return
		}
		if err := s.Delete(t.Context(), key(name), revision(name)); err != nil {
			t.Fatal(err)
		}
	}
}
