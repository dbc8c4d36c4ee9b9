package reason

import (
	"encoding/json"
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
		Node("10.0.0.7"), Names{"ins-1", "ins-2"}, Text("a text"), Price{Amount: "1.90", Currency: "USD"}, NewForeign("what a tenant wrote"),
	} {
		samples[reflect.TypeOf(a)] = a
	}
}

// made returns a reason with a code, with arguments of the kinds that its constructor takes.
func made(t *testing.T, d *definition) Reason {
	t.Helper()
	r := Reason{Code: d.code}
	for _, p := range d.params {
		a, _ := p.decode(json.RawMessage("null"))
		switch a.(type) {
		case Reason:
			a = OtherVersion("a reason")
		case Reasons:
			a = Reasons{OtherVersion("one"), OtherVersion("two")}
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
		if text := r.String(); strings.ContainsAny(text, "{}") || strings.TrimSpace(text) == "" {
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
	if err := json.Unmarshal([]byte(`7`), &r); err == nil {
		t.Errorf("a number is read as %+v", r)
	}
}

func TestAReaderSeesNoNameOfWhatIsHidden(t *testing.T) {
	t.Parallel()
	tenant := Renderer{Sees: func(o Object) bool { return o == "budget/team-a" }}
	for object, want := range map[Object]string{"budget/team-a": "budget/team-a", "budget/team-b": "another budget", "spot_pool/r/p": "another spot pool"} {
		if got := object.render(tenant); got != want {
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
