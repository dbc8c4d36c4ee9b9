package reason

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/duration"
	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Argument is a value in a reason.
type Argument interface {
	// render returns the value for a reader.
	render(Renderer) string
	// count chooses between the words for one and for several.
	count() int
}

type (
	// Count is a number of things.
	Count int
	// Word is one of gpupool's own vocabulary: an argument, an action, a code.
	Word string
	// Duration is written as durations are declared, "1h30m".
	Duration time.Duration
	// Instant is a moment. Its zero value is never an argument.
	Instant struct{ time.Time }
	// Object names an object of the store, "spot_pool/ap-singapore/train".
	Object string
	// Node is the name of a Node.
	Node string
	// Price is an amount of money an hour, with its currency if that is known.
	Price struct {
		Amount   string `json:"amount"`
		Currency string `json:"currency,omitempty"`
	}
	// Names are what a list names: instances, nodes, pods.
	Names []string
	// Text is a text of gpupool's own that has no code yet.
	Text string
	// Foreign is a text that gpupool did not write: of a tenant, of a cloud, or of another version. Only readers of the
	// whole installation see it.
	Foreign string
	// Reasons are the reasons for another one.
	Reasons []Reason
)

func (n Count) render(Renderer) string { return strconv.Itoa(int(n)) }
func (n Count) count() int             { return int(n) }

func (w Word) render(Renderer) string { return string(w) }
func (w Word) count() int             { return 1 }

func (d Duration) render(Renderer) string { return duration.String(time.Duration(d)) }
func (d Duration) count() int             { return 1 }

// MarshalJSON writes it as durations are declared.
func (d Duration) MarshalJSON() ([]byte, error) {
	return strconv.AppendQuote(nil, d.render(Renderer{})), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (d *Duration) UnmarshalJSON(data []byte) error {
	text, err := strconv.Unquote(string(data))
	if err != nil {
		return fmt.Errorf("a duration is a string such as \"1h30m\", not %s", data)
	}
	read, err := duration.Parse(text)
	*d = Duration(read)
	return err
}

func (at Instant) render(r Renderer) string { return r.instant(at.Time) }
func (at Instant) count() int               { return 1 }

func (o Object) render(r Renderer) string {
	if kind, _, _ := strings.Cut(string(o), "/"); !r.sees(o) {
		return "another " + strings.ReplaceAll(kind, "_", " ")
	}
	return string(o)
}
func (o Object) count() int { return 1 }

func (n Node) render(Renderer) string { return string(n) }
func (n Node) count() int             { return 1 }

func (p Price) render(Renderer) string { return strings.TrimSpace(p.Amount + " " + p.Currency) }
func (p Price) count() int             { return 1 }

func (list Names) render(Renderer) string { return wording.Some(list) }
func (list Names) count() int             { return len(list) }

func (s Text) render(Renderer) string { return string(s) }
func (s Text) count() int             { return 1 }

// longestForeign is the length of a foreign text in bytes.
const longestForeign = 1000

// NewForeign returns a foreign text, which is shortened if it is long.
func NewForeign(text string) Foreign {
	if len(text) > longestForeign {
		end := longestForeign
		for !utf8.RuneStart(text[end]) {
			end--
		}
		text = text[:end] + "…"
	}
	return Foreign(printable.Text(text))
}

func (f Foreign) render(r Renderer) string {
	if !r.whole() {
		return "(hidden: only readers of the whole installation see it)"
	}
	return string(f)
}
func (f Foreign) count() int { return 1 }

func (r Reason) render(by Renderer) string { return by.Text(r) }
func (r Reason) count() int                { return 1 }

func (list Reasons) render(r Renderer) string {
	texts := make([]string, len(list))
	for n, reason := range list {
		texts[n] = r.Text(reason)
	}
	return strings.Join(texts, "; ")
}
func (list Reasons) count() int { return len(list) }
