package budget

import (
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

func FuzzParseHours(f *testing.F) {
	for _, seed := range []string{"100", "12.5", "0.001", "1000000000", "-1", "1e9", "0", "1.2345", "٣"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		amount, err := ParseHours(text)
		if err != nil {
			return
		}
		if amount <= 0 || amount > MaxGPUHours*Hour || amount%3600 != 0 {
			t.Fatalf("%q is %d", text, amount)
		}
		if again, err := ParseHours(Hours(amount)); err != nil || again != amount {
			t.Fatalf("%q is %d, printed %q, and read again %d, %v", text, amount, Hours(amount), again, err)
		}
	})
}

func FuzzParseWindow(f *testing.F) {
	for _, seed := range []string{"24h", "7d", "90m", "1d12h", "400d", "-1h", "1dd", "99999999999999999999d", "106751d23h47m16.854775807s"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		length, err := ParseWindow(text)
		if err != nil {
			return
		}
		if length < ShortestWindow || length > LongestWindow {
			t.Fatalf("%q is %s", text, length)
		}
		if again, err := ParseWindow(length.String()); err != nil || again != length {
			t.Fatalf("%q is %s, and read again %s, %v", text, length, again, err)
		}
	})
}

// FuzzSelectors: what reads as a selector matches without harm, and a declaration
// that has it is valid.
func FuzzSelectors(f *testing.F) {
	for _, seed := range []string{"team=a", "team in (a,b),!debug", "a!=b,c", "a==,b notin ()", "a>1", "(", "a in (,)", strings.Repeat("a", 300)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSelector(text)
		if err != nil || s.Empty() {
			return
		}
		m, err := s.Matcher()
		if err != nil {
			t.Fatalf("%q reads as %+v, and is not valid: %v", text, s, err)
		}
		m.Matches(&ledger.LabelSet{Labels: ledger.LabelsOf(s.MatchLabels)})
		d := teamA()
		d.Selector = s
		if problems := d.Validate(time.LoadLocation); len(problems) > 0 {
			t.Fatalf("%q reads as %+v, and is not valid: %v", text, s, problems)
		}
	})
}
