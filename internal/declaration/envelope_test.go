package declaration_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/declaration"
	"github.com/gpupool/terraform-provider-gpupool/internal/history"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

const what = "spot_pools/ap-singapore/train in directory:.gpupool"

var (
	noon       = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	emptyAsNil = cmpopts.EquateEmpty()
)

func record() declaration.SpotPool {
	return declaration.SpotPool{
		Phase: declaration.Active, Declaration: statePools()[0].Declaration, UpdatedAt: noon, UpdatedBy: "terraform apply",
	}
}

func openJournal() declaration.Journal {
	d := record().Declaration
	return declaration.Journal{Launches: launches.Launches{LastSequence: 7, Pending: []launches.Launch{{
		WrittenAt: noon,
		Request: spotpool.Request{
			Region: d.Region, Pool: d.Name, UID: d.UID, Sequence: 7, SeqTag: 3, Token: launches.Token(d.UID, "salt", 7), Offering: d.Offerings[0],
			ChargeType: spotpool.Spot, Count: 2, ConfigurationTag: "1:0011223344556677", Configuration: d.Configuration,
		},
	}}}}
}

func encode[T declaration.Body](tb testing.TB, body T) []byte {
	tb.Helper()
	data, err := declaration.Encode(body)
	if err != nil {
		tb.Fatal(err)
	}
	return data
}

func roundTrip[T declaration.Body](t *testing.T, body T) {
	t.Helper()
	data := encode(t, body)
	got, err := declaration.Decode[T](what, data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(body, got, emptyAsNil); diff != "" {
		t.Errorf("(-written +read)\n%s", diff)
	}
	var people bytes.Buffer // who read a document with their own tools
	if err := json.Indent(&people, data, "\t", "    "); err != nil {
		t.Fatal(err)
	}
	if _, err := declaration.Decode[T](what, people.Bytes()); err != nil {
		t.Errorf("indented otherwise: %v", err)
	}
}

func TestEveryDocumentIsReadAsWritten(t *testing.T) {
	t.Parallel()
	roundTrip(t, record())
	roundTrip(t, openJournal())
	roundTrip(t, declaration.Journal{})
	roundTrip(t, declaration.RunSummary{RunID: "r1", StartedAt: noon, FinishedAt: noon})
	roundTrip(t, declaration.RunSummary{
		RunID: "r1", StartedAt: noon, FinishedAt: noon, Starts: []time.Time{noon},
		Failing: declaration.Failures{"budget/a": {
			Since: noon, Runs: 2, LastAt: noon, Error: history.Error{Class: "c", Code: "d", Message: "m", RequestID: "r", Remedy: "y"},
		}},
		Skipped: declaration.Failures{"spot_pool/r/b": {Since: noon, Runs: 1, LastAt: noon, Error: history.Error{Message: "locked"}}},
	})
	roundTrip(t, declaration.LastDay{Quarter: 7, Series: map[string]declaration.Series{"budget/a": {{6, 10, 100}, {7, 12, 100}}}})
	roundTrip(t, declaration.PoolTombstone(record().Declaration, noon))
	b := declaration.Budget{Phase: declaration.Active, Declaration: stateBudget(), UpdatedAt: noon, UpdatedBy: "terraform apply"}
	roundTrip(t, b)
	roundTrip(t, declaration.BudgetTombstone(b.Declaration, noon))
	roundTrip(t, declaration.BudgetStatus{
		Name: "team-a", UID: b.Declaration.UID, Generation: 2, ClusterUID: b.Declaration.ClusterUID, RunID: "r1", At: noon,
		Usage: budget.Usage{
			WindowStart: noon.Add(-24 * time.Hour), WindowEnd: noon, Limit: 3_600_000, Consumed: 4_000_000, ByNamespace: map[string]int64{"ml": 4_000_000},
		},
		ExceededSince: &noon, ReportedAt: &noon, Fired: []int{50, 80, 100}, Enforced: []budget.Action{budget.Freeze},
	})
	roundTrip(t, declaration.State{Lineage: "l", Serial: 4, SeenAt: noon})
}

func TestTombstoneStaysThirtyDays(t *testing.T) {
	t.Parallel()
	tombstone := declaration.PoolTombstone(record().Declaration, noon)
	if tombstone.Expired(noon.AddDate(0, 0, 30).Add(-time.Second)) || !tombstone.Expired(noon.AddDate(0, 0, 30)) {
		t.Errorf("it expires at %v", tombstone.ExpiresAt)
	}
}

// forge changes the body of a record and gives it the checksum it then needs.
func forge(t *testing.T, old, replacement string) []byte {
	t.Helper()
	data := string(encode(t, record()))
	if !strings.Contains(data, old) {
		t.Fatalf("the document has no %s", old)
	}
	return rehash(t, []byte(strings.Replace(data, old, replacement, 1)))
}

func TestDecodeRefusesNewer(t *testing.T) {
	t.Parallel()
	for name, data := range map[string][]byte{
		"version": []byte(`{"version": 4, "kind": "novelty", "body": {}, "signature": "` + secret + `"}`),
		"field":   forge(t, `"phase"`, `"novelty": "`+secret+`", "phase"`),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := declaration.Decode[declaration.SpotPool](what, data)
			var newer *declaration.NewerError
			if !errors.As(err, &newer) || !strings.Contains(err.Error(), what) || !strings.Contains(err.Error(), "Upgrade gpupool") {
				t.Errorf("got %v, want a NewerError that names the document and the remedy", err)
			}
			if strings.Contains(err.Error(), secret) {
				t.Errorf("the error %q holds a secret", err)
			}
		})
	}
}

// TestDecodeRefusesOlder: documents from before the first release may have other fields, and
// the remedy launches nothing twice.
func TestDecodeRefusesOlder(t *testing.T) {
	t.Parallel()
	old := []byte(`{"version": 1, "kind": "journal", "body": {"intents": ["` + secret + `"]}}`)
	_, err := declaration.Decode[declaration.Journal](what, old)
	var older *declaration.OlderError
	if !errors.As(err, &older) || !strings.Contains(err.Error(), what+" was written by an older gpupool (version 1 of its form") ||
		!strings.Contains(err.Error(), "launches nothing for 10 minutes") {
		t.Errorf("got %v, want an OlderError that names the document and a remedy", err)
	}
	if strings.Contains(err.Error(), secret) {
		t.Errorf("the error %q holds a secret", err)
	}
}

func TestDecodeRefusesDamaged(t *testing.T) {
	t.Parallel()
	whole := string(encode(t, record()))
	for name, c := range map[string]struct {
		data   string
		reason string
	}{
		"nothing":         {"", "it ends too early"},
		"null":            {"null", "no version"},
		"no JSON":         {secret, "not valid JSON at byte 1"},
		"truncated":       {whole[:len(whole)/2], "it ends too early"},
		"trailing":        {whole + whole, "something follows"},
		"no version":      {strings.Replace(whole, `"version": 3`, `"version": 0`, 1), "no version"},
		"another kind":    {string(encode(t, openJournal())), "its kind is not spot pool"},
		"no body":         {`{"version":3,"kind":"spot_pool","checksum":"sha256:x","body":null}`, "empty"},
		"changed body":    {strings.Replace(whole, `"minimum": 2`, `"minimum": 9`, 1), "checksum"},
		"extra field":     {strings.Replace(whole, `"version": 3`, `"version": 3, "`+"extra"+`": "`+secret+`"`, 1), "unknown field"},
		"wrong type":      {string(forge(t, `"minimum": 2`, `"minimum": "`+secret+`"`)), `"declaration.minimum" is of the wrong type`},
		"wrong form":      {string(forge(t, `"cooldown": "20m"`, `"cooldown": "`+secret+`"`)), "not of the right form"},
		"no uid":          {string(forge(t, `"uid": "4b7c1a52f0e94d3c8a6b0d1e2f3a4b5c"`, `"uid": ""`)), "no uid"},
		"no account":      {string(forge(t, `"account_id": "100012345678"`, `"account_id": ""`)), "no account_id"},
		"unknown phase":   {string(forge(t, `"phase": "active"`, `"phase": "`+secret+`"`)), "phase"},
		"deep nesting":    {strings.Repeat("[", 20_000), "nested too deeply"},
		"checksum absent": {strings.Replace(whole, "sha256:", "", 1), "checksum"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := declaration.Decode[declaration.SpotPool](what, []byte(c.data))
			var damaged *declaration.DamagedError
			if !errors.As(err, &damaged) || !strings.Contains(damaged.Reason, c.reason) {
				t.Fatalf("got %v, want a DamagedError with %q", err, c.reason)
			}
			if !strings.Contains(err.Error(), what) || strings.Contains(err.Error(), secret) {
				t.Errorf("the error %q must name the document and hold no secret", err)
			}
		})
	}
}

func TestJournalThatWouldRepeatALaunchIsRefused(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*declaration.Journal){
		"the sequence could be given again": func(j *declaration.Journal) { j.LastSequence = 6 },
		"the token is lost":                 func(j *declaration.Journal) { j.Pending[0].Request.Token = "" },
		"the pool is lost":                  func(j *declaration.Journal) { j.Pending[0].Request.UID = "" },
		"the count is lost":                 func(j *declaration.Journal) { j.Pending[0].Request.Count = 0 },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := openJournal()
			spoil(&j)
			if _, err := declaration.Encode(j); err == nil {
				t.Error("it was written")
			}
		})
	}
}

// Whatever happens to one byte of a document, it is never read as another one.
func TestNoChangedByteIsReadAsSomethingElse(t *testing.T) {
	t.Parallel()
	want := record()
	data := encode(t, want)
	rapid.Check(t, func(t *rapid.T) {
		changed := bytes.Clone(data)
		changed[rapid.IntRange(0, len(data)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		got, err := declaration.Decode[declaration.SpotPool](what, changed)
		if err != nil {
			if strings.Contains(err.Error(), secret) {
				t.Fatalf("the error %q holds a secret", err)
			}
			return
		}
		if diff := cmp.Diff(want, got, emptyAsNil); diff != "" {
			t.Fatalf("(-written +read)\n%s", diff)
		}
	})
}

func fuzz[T declaration.Body](t *testing.T, data []byte) {
	t.Helper()
	value, err := declaration.Decode[T](what, data)
	var newer *declaration.NewerError
	var damaged *declaration.DamagedError
	switch {
	case err == nil:
		if _, err := declaration.Encode(value); err != nil {
			t.Errorf("what was read can't be written: %v", err)
		}
	case !errors.As(err, &newer) && !errors.As(err, &damaged):
		t.Errorf("%v is neither a NewerError nor a DamagedError", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, record()))
	f.Add(encode(f, openJournal()))
	f.Add(encode(f, declaration.PoolTombstone(record().Declaration, noon)))
	f.Add(encode(f, declaration.State{Lineage: "l"}))
	f.Add(encode(f, declaration.Budget{Phase: declaration.Active, Declaration: stateBudget()}))
	f.Add(encode(f, declaration.BudgetStatus{Name: "team-a", UID: "u", ClusterUID: "c"}))
	f.Add(encode(f, declaration.Pauses{BudgetUID: "u", Budget: "team-a", ClusterUID: "c", Workloads: []declaration.Pause{{
		Workload: budget.Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "serve", UID: "d"}},
		Phase:    declaration.Started, Replicas: 3,
	}}}))
	f.Fuzz(func(t *testing.T, data []byte) {
		// With a checksum that fits, the fuzzer gets past it to what is behind.
		for _, document := range [][]byte{data, rehash(t, data)} {
			fuzz[declaration.SpotPool](t, document)
			fuzz[declaration.Journal](t, document)
			fuzz[declaration.Budget](t, document)
			fuzz[declaration.BudgetStatus](t, document)
			fuzz[declaration.Pauses](t, document)
			fuzz[declaration.RunSummary](t, document)
			fuzz[declaration.LastDay](t, document)
			fuzz[declaration.Tombstone](t, document)
			fuzz[declaration.State](t, document)
		}
	})
}
