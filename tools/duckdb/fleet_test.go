package duckdb_test

import (
	"database/sql"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reconcile/eventlog"
	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// TestAFleetIsOneTable exports two stores into one directory, by the program itself and
// twice, and runs the statements of the guide.
func TestAFleetIsOneTable(t *testing.T) {
	statements := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(page(t, "../../templates/guides/history-and-export.md"), -1)
	if len(statements) != 2 {
		t.Fatalf("the guide has %d statements", len(statements))
	}
	dir := t.TempDir()
	gpupool := filepath.Join(dir, "gpupool")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", gpupool, ".")
	build.Dir = "../.."
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	t.Chdir(dir)
	for n, uid := range []string{"cluster-a", "cluster-b"} {
		place, err := directory.Open(filepath.Join(dir, uid), directory.Options{Create: true})
		if err != nil {
			t.Fatal(err)
		}
		keepLedger(t, place, uid, n)
		keepHistory(t, place, n)
		for range 2 {
			for _, what := range []string{"ledger", "history"} {
				command := exec.CommandContext(t.Context(), gpupool, "export", what, "--store", "directory:"+uid, "--to", "fleet")
				if out, err := command.CombinedOutput(); err != nil {
					t.Fatalf("%v: %s", err, out)
				}
			}
		}
	}
	for n, want := range []string{
		// 9 h in November of 4 GPUs; 2 h of 1/2, and 6 h or so of 1
		"cluster-a|ml|1|36.000\ncluster-a|web|2|7.000\ncluster-b|ml|1|36.000\ncluster-b|web|2|7.000",
		"spot_pool/ap-singapore/train-0|ap-singapore-2|0|1|1\nspot_pool/ap-singapore/train-1|ap-singapore-2|0|1|1",
	} {
		if got := table(t, statements[n][1]); got != want {
			t.Errorf("DuckDB finds\n%s\nwant\n%s", got, want)
		}
	}
}

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// keepLedger has four pods. One began the month before, the end of one is an estimate of two
// hours, one holds half a GPU, and one ended before.
func keepLedger(t *testing.T, place store.Store, uid string, n int) {
	t.Helper()
	november := time.Date(2026, 11, 1, 0, 0, 0, 0, time.UTC)
	l := ledger.New(uid)
	l.Header.Began, l.Header.LastRun = milli(november.Add(-week)), milli(november.Add(week))
	for m, p := range []struct {
		namespace      string
		quarters       int64
		start          time.Duration
		earliest, ends time.Duration
	}{
		{"ml", 16, -3 * time.Hour, 9 * time.Hour, 9 * time.Hour},
		{"web", 2, time.Hour, 3 * time.Hour, 3 * time.Hour},
		{"web", 4, time.Hour, 6 * time.Hour, 8 * time.Hour},
		{"web", 4, -3 * time.Hour, -time.Hour, -time.Hour},
	} {
		r := pod(1, november.Add(p.start))
		r.UID, r.Seen = fmt.Sprintf("%s-%d-%d", uid, n, m), milli(november)
		r.Set = &ledger.LabelSet{Namespace: p.namespace}
		r.Allocation = &ledger.Allocation{Shown: 1, Shares: []ledger.Share{{
			Resource: "nvidia.com/gpu", Units: big.NewRat(p.quarters, 4), Weight: big.NewRat(1, 1),
		}}}
		r.End = ledger.End{Earliest: milli(november.Add(p.earliest)), At: milli(november.Add(p.ends)), Source: ledger.Estimated}
		if p.earliest == p.ends {
			r.End.Source = ledger.ContainerFinished
		}
		if err := l.Merge(r); err != nil {
			t.Fatal(err)
		}
	}
	changes, err := l.Changes()
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range changes.Write {
		key := store.Key{Kind: store.Ledger, Name: uid + "/" + d.Name}
		before, _ := place.Read(t.Context(), key) // the header is written twice
		if _, err := place.Write(t.Context(), key, d.Data, before.Revision); err != nil {
			t.Fatal(err)
		}
	}
}

// keepHistory has a refusal and a reclaim in November, and a launch before.
func keepHistory(t *testing.T, place store.Store, n int) {
	t.Helper()
	at := time.Date(2026, 11, 3, 4, 5, 6, 0, time.UTC)
	zone := history.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7.2XLARGE32"}
	a := history.About{At: at, Object: fmt.Sprintf("spot_pool/ap-singapore/train-%d", n), ObjectUID: fmt.Sprint(n)}
	before := a
	before.At = at.AddDate(0, 0, -4)
	kept := eventlog.Log{Store: place, Now: func() time.Time { return at }}
	added := kept.Add(t.Context(),
		before.Launched(history.Ask{Sequence: 1, Offering: zone}), a.Refused(history.Ask{Sequence: 2, Offering: zone}, history.Error{Code: "ResourcesSoldOut"}),
		a.Instance(history.Reclaim, history.Instance{ID: "ins-aaaaaaa1", Offering: zone}), a.Declaration(history.Create))
	if added.Events != 4 || len(added.Warnings) > 0 {
		t.Fatalf("%+v", added)
	}
}

// table is what DuckDB answers, a line a row.
func table(t *testing.T, statement string) string {
	t.Helper()
	db, err := sql.Open("duckdb", "")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.Query(statement)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	names, err := rows.Columns()
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for rows.Next() {
		cells := make([]any, len(names))
		into := make([]any, len(names))
		for n := range cells {
			into[n] = &cells[n]
		}
		if err := rows.Scan(into...); err != nil {
			t.Fatal(err)
		}
		var texts []string
		for _, cell := range cells {
			texts = append(texts, fmt.Sprint(cell))
		}
		lines = append(lines, strings.Join(texts, "|"))
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return strings.Join(lines, "\n")
}
