package reason

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// samples are an argument of each kind.
var samples = map[reflect.Type]Argument{}

func init() {
	for _, a := range []Argument{
		Count(3), Word("freeze"), Duration(90 * time.Minute), Instant{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}, Object("budget/team-a"),
		Node("10.0.0.7"), Names{"ins-1", "ins-2"}, Text("a text"), Amount("1.5"), Price{Amount: "1.90", Currency: "USD"}, NewForeign("what a tenant wrote"),
		Workload("Deployment ml/train"), Objects{"budget/team-a", "budget/team-b"},
		List([]Item{{Name: "ml/train-1", Why: OtherVersion("a reason")}, {Name: "ml/b"}}),
		NewValue("registry.example.com/runtime:2"), Quoted("a\nb"), Choices{"delete", "retain"},
	} {
		samples[reflect.TypeOf(a)] = a
	}
}

// made returns a reason with a code, with arguments of the kinds that its constructor takes.
func made(t *testing.T, d *definition) Reason {
	t.Helper()
	return makeOf(t, d, samples, OtherVersion("a reason"))
}

func makeOf(t *testing.T, d *definition, samples map[reflect.Type]Argument, nested Reason) Reason {
	t.Helper()
	r := Reason{Code: d.code}
	for _, p := range d.params {
		a, _ := p.decode(json.RawMessage("null"))
		switch a.(type) {
		case Reason:
			a = nested
		case Reasons:
			a = Reasons{nested, nested}
		case Clauses:
			a = Clauses{nested, nested}
		case Facts:
			a = Facts{nested}
		case Some:
			a = Some{nested, nested}
		case Lines:
			a = Lines{nested, nested}
		case Paragraphs:
			a = Paragraphs{nested, nested}
		default:
			a = samples[reflect.TypeOf(a)]
		}
		if a == nil {
			t.Fatalf("%s: no sample of the argument %s", d.code, p.name)
		}
		r.Args = append(r.Args, a)
	}
	return r
}

// TestEveryCodeIsWrittenAndRead: no argument is left out of a text, and JSON keeps every one.
func TestEveryCodeIsWrittenAndRead(t *testing.T) {
	t.Parallel()
	if len(catalog) == 0 {
		t.Fatal("the catalog is empty")
	}
	for code, d := range catalog {
		r := made(t, d)
		if text := r.String(); parameter.MatchString(text) || strings.TrimSpace(text) == "" {
			t.Errorf("%s: %q", code, text)
		}
		data, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var read Reason
		if err := json.Unmarshal(data, &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(r, read); diff != "" {
			t.Errorf("%s: %s", code, diff)
		}
	}
}

func TestTextsOfOtherVersionsAreKept(t *testing.T) {
	t.Parallel()
	for name, data := range map[string]string{
		"a text without a code":        `"the pool is short"`,
		"a code of a later one":        `{"code": "no_such_code", "args": {"a": 1}, "text": "the pool", "remedy": "is short"}`,
		"a code without its arguments": `{"code": "` + string(OtherVersion("").Code) + `", "text": "the pool is short"}`,
		"another kind of argument":     `{"code": "` + string(OtherVersion("").Code) + `", "args": {"text": 7}, "text": "the pool is short"}`,
	} {
		var r Reason
		if err := json.Unmarshal([]byte(data), &r); err != nil {
			t.Fatal(err)
		}
		if r.Code != OtherVersion("").Code || r.String() != "the pool is short" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	var r Reason
	later := `{"code": "as_reclaimed", "args": {"reclaim": {"code": "no_such_code"}}, "text": "as a cloud does"}`
	if err := json.Unmarshal([]byte(later), &r); err != nil || r.String() != "as a cloud does" {
		t.Errorf("with a code of a later one in it: %+v, %v", r, err)
	}
	if err := json.Unmarshal([]byte(`7`), &r); err == nil {
		t.Errorf("a number is read as %+v", r)
	}
}

func TestAReaderSeesNoNameOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	tenant := Renderer{Sees: func(o Object) bool { return o == "budget/team-a" }}
	for object, want := range map[Object]string{"budget/team-a": "budget/team-a", "budget/team-b": "another budget", "spot_pool/r/p": "another spot pool"} {
		if got := tenant.object(object).render(tenant); got != want {
			t.Errorf("%s is written as %q, want %q", object, got, want)
		}
	}
	if text := tenant.Text(OtherVersion("of another tenant")); strings.Contains(text, "tenant") {
		t.Errorf("a tenant reads %q", text)
	}
}

func TestTimesAreTheReaders(t *testing.T) {
	t.Parallel()
	here := time.FixedZone("", 8*60*60)
	r := Renderer{Instant: func(at time.Time) string { return at.In(here).Format(time.Kitchen) }}
	if got := (Instant{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)}).render(r); got != "8:00PM" {
		t.Errorf("noon is written as %q", got)
	}
}

func TestLongForeignTextsAreShortened(t *testing.T) {
	t.Parallel()
	if got := NewForeign(strings.Repeat("ü", longestForeign)); len(got) > longestForeign+len("…") || !strings.HasSuffix(string(got), "ü…") {
		t.Errorf("it has %d bytes and ends with %q", len(got), got[len(got)-6:])
	}
	if got := NewForeign("a\x1b[2Jb"); strings.Contains(string(got), "\x1b") {
		t.Errorf("a terminal would obey %q", got)
	}
}

// TestAColumnKeepsReasons: with their codes, and else as texts.
func TestAColumnKeepsReasons(t *testing.T) {
	t.Parallel()
	want := Reasons{NoRoom(5, 5, 2), AsReclaimed(Reclaimed(Names{"ins-1"}, Instant{time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)})), OtherVersion("a text")}
	if diff := cmp.Diff(want, Read(want.Compact(), want.Texts())); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	for _, details := range []string{"", "[", `[{"code":"no_room"}]`} {
		read := Read(details, want.Texts())
		if diff := cmp.Diff(want.Texts(), read.Texts()); diff != "" || read[0].Code != otherVersion {
			t.Errorf("with the details %q: (-want +got)\n%s", details, diff)
		}
	}
}

// TestLongReasonsAreCut where they are stored.
func TestLongReasonsAreCut(t *testing.T) {
	t.Parallel()
	long := NeedsReplacement(Word(strings.Repeat("i", 5000)), Drifted())
	short := NoRoom(5, 5, 2)
	got := Reasons{short, long, short}.Bounded(2, 2048)
	if len(got) != 2 || !got[0].Same(short) || len(got[1].String()) != 2048 {
		t.Errorf("%d of them: %+v", len(got), got)
	}
}

// TestRedactedReasonsNameNothingHidden, in any code and also as JSON. Each is what the reader is shown at once.
func TestRedactedReasonsNameNothingHidden(t *testing.T) {
	t.Parallel()
	tenant := Renderer{Sees: func(Object) bool { return false }, Namespace: func(name string) bool { return name != "foe" }}
	for _, kind := range []Argument{
		Object("budget/foe-1"), Objects{"budget/foe-1"}, NewForeign("foe-1"), Text("foe-1"), Workload("Deployment foe/foe-1"),
		List([]Item{{Name: "foe/foe-1"}, {Name: "ml/a", Why: OtherVersion("foe-1")}}),
	} {
		samples := maps.Clone(samples)
		samples[reflect.TypeOf(kind)] = kind
		for code, d := range catalog {
			r := makeOf(t, d, samples, OtherVersion("foe-1"))
			data, err := json.Marshal(tenant.Redact(r))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(data, []byte("foe")) {
				t.Errorf("%s shows %s", code, data)
			}
			if direct, redacted := tenant.Sentence(r), tenant.Redact(r).String(); direct != redacted {
				t.Errorf("%s is written as %q, and redacted as %q", code, direct, redacted)
			}
		}
	}
}

// TestNumbersOfAHiddenBudgetAreHidden: less the own usage, they would be another team's.
func TestNumbersOfAHiddenBudgetAreHidden(t *testing.T) {
	t.Parallel()
	tenant := Renderer{Sees: func(o Object) bool { return o == "budget/own" }}
	at := Instant{Time: time.Unix(0, 0).UTC()}
	got, want := tenant.Text(BudgetUsedUp("budget/all", "0.211", "0.100", at)), "another budget is used up: … of … GPU-hours"
	if !strings.HasPrefix(got, want) {
		t.Errorf("it says %q", got)
	}
	if got := tenant.Text(BudgetUsedUp("budget/own", "0.211", "0.100", at)); !strings.Contains(got, "0.211 of 0.100") {
		t.Errorf("of the own budget it says %q", got)
	}
}

// TestValuesOfAHiddenPodAreHidden, also in the reasons about it.
func TestValuesOfAHiddenPodAreHidden(t *testing.T) {
	t.Parallel()
	tenant := Renderer{Sees: func(Object) bool { return true }, Namespace: func(name string) bool { return name == "own" }}
	why := QueuedByKueue("secret-queue")
	for _, of := range []func(Workload) Reason{
		func(w Workload) Reason { return PodProblem(w, why) },
		func(w Workload) Reason { return EffectOnWhy(w, Reasons{why}) },
	} {
		if got := tenant.Text(of("Pod other/a")); strings.Contains(got, "secret-queue") {
			t.Errorf("it says %q", got)
		}
		if got := tenant.Text(of("Pod own/a")); !strings.Contains(got, "secret-queue") {
			t.Errorf("of the own pod it says %q", got)
		}
	}
}
