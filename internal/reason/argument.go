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
	// Amount is a decimal number of GPUs or GPU-hours.
	Amount string
	// Names are what a list names: instances, nodes, pods.
	Names []string
	// Workload names a pod or a workload in a cluster, "Deployment ml/train".
	Workload string
	// Objects name objects of the store.
	Objects []Object
	// Listed are the first of many pods or workloads, and the number of the others.
	Listed struct {
		First []Item `json:"first"`
		More  int    `json:"more,omitempty"`
	}
	// Item is one of a list, and what there is to say of it.
	Item struct {
		Name string `json:"name"`
		Why  Reason `json:"why,omitzero"`
	}
	// Text is a text of gpupool's own that has no code yet.
	Text string
	// Foreign is a text that gpupool did not write: of a tenant, of a cloud, or of another version. Only readers of the
	// whole installation see it.
	Foreign string
	// Value is a field, a phase or a condition's message of an object in the cluster. The reader of the reason may read
	// that object as a whole.
	Value string
	// Quoted is a value as a person wrote it, in a declaration or a request.
	Quoted string
	// Choices are all values that an attribute can have.
	Choices []string
	// Reasons are the reasons for another one.
	Reasons []Reason
	// Clauses are joined by "and".
	Clauses []Reason
	// Facts are joined by commas.
	Facts []Reason
	// Some are joined by commas, and shortened if they are many.
	Some []Reason
	// Lines are a list with a line for each, and with their remedies.
	Lines []Reason
	// Paragraphs have a paragraph for each, and their remedies.
	Paragraphs []Reason
)

func (n Count) render(Renderer) string { return strconv.Itoa(int(n)) }
func (n Count) count() int             { return int(n) }

func (w Word) render(Renderer) string { return string(w) }
func (w Word) count() int             { return 1 }

func (d Duration) render(Renderer) string { return duration.Words(time.Duration(d)) }
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

// render returns its name. One without a name is one that the reader may not see.
func (o Object) render(Renderer) string {
	if kind, _, named := strings.Cut(string(o), "/"); !named {
		return "another " + strings.ReplaceAll(kind, "_", " ")
	}
	return string(o)
}
func (o Object) count() int { return 1 }

func (n Node) render(Renderer) string { return string(n) }
func (n Node) count() int             { return 1 }

func (p Price) render(Renderer) string { return strings.TrimSpace(p.Amount + " " + p.Currency) }
func (p Price) count() int             { return 1 }

func (a Amount) render(Renderer) string { return string(a) }
func (a Amount) count() int {
	if a == "1" {
		return 1
	}
	return 2 // 0, 0.5, 2
}

func (list Names) render(Renderer) string { return wording.Some(list) }
func (list Names) count() int             { return len(list) }

func (w Workload) render(Renderer) string { return string(w) }
func (w Workload) count() int             { return 1 }

func (list Objects) render(r Renderer) string {
	return wording.Some(mapped(list, func(o Object) string { return o.render(r) }))
}
func (list Objects) count() int { return len(list) }

// List returns the first items of a list, as many as wording.Some names, and counts the rest.
func List(items []Item) Listed {
	if len(items) <= wording.NamedAtMost {
		return Listed{First: items}
	}
	return Listed{First: items[:wording.NamedAtMost-1], More: len(items) - wording.NamedAtMost + 1}
}

func (list Listed) render(r Renderer) string {
	texts := make([]string, len(list.First))
	for n, item := range list.First {
		if texts[n] = item.Name; !item.Why.IsZero() {
			texts[n] += " (" + r.Text(item.Why) + ")"
		}
	}
	text := strings.Join(texts, ", ")
	if list.More > 0 {
		text += fmt.Sprintf(" and %d more", list.More)
	}
	return text
}
func (list Listed) count() int { return len(list.First) + list.More }

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

func (f Foreign) render(Renderer) string { return string(f) }
func (f Foreign) count() int             { return 1 }

// Failure returns the text of an error, which names what a cloud, a cluster or a disk said.
func Failure(err error) Foreign { return NewForeign(err.Error()) }

// NewValue returns a value, which is shortened if it is long.
func NewValue(text string) Value { return Value(NewForeign(text)) }

func (v Value) render(Renderer) string { return string(v) }
func (v Value) count() int             { return 1 }

func (q Quoted) render(Renderer) string { return strconv.Quote(string(q)) }
func (q Quoted) count() int             { return 1 }

func (list Choices) render(Renderer) string { return strings.Join(mapped(list, strconv.Quote), ", ") }
func (list Choices) count() int             { return len(list) }

func (r Reason) render(by Renderer) string { return by.Text(r) }
func (r Reason) count() int                { return 1 }

func (list Reasons) render(r Renderer) string { return strings.Join(mapped(list, r.Text), "; ") }
func (list Reasons) count() int               { return len(list) }

func (list Clauses) render(r Renderer) string { return strings.Join(mapped(list, r.Text), " and ") }
func (list Clauses) count() int               { return len(list) }

func (list Facts) render(r Renderer) string { return strings.Join(mapped(list, r.Text), ", ") }
func (list Facts) count() int               { return len(list) }

func (list Some) render(r Renderer) string { return wording.Some(mapped(list, r.Text)) }
func (list Some) count() int               { return len(list) }

func (list Lines) render(r Renderer) string {
	var b strings.Builder
	for _, of := range list {
		b.WriteString(listItem + r.Sentence(of))
	}
	return b.String()
}
func (list Lines) count() int { return len(list) }

func (list Paragraphs) render(r Renderer) string {
	return strings.Join(mapped(list, r.Sentence), "\n\n")
}
func (list Paragraphs) count() int { return len(list) }
