// Package reason has what gpupool says about an object: codes with typed arguments, and one catalog with the text and
// the remedy of each code.
package reason

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Code names a reason. It is stable, for programs.
type Code string

// Reason is one sentence about an object. Only the constructors of the catalog make one.
type Reason struct {
	Code Code
	// Args are in the order of the constructor's parameters.
	Args []Argument
}

// IsZero reports whether it is none.
func (r Reason) IsZero() bool { return r.Code == "" }

// Severity returns how much it matters. A code of another version is only an explanation.
func (r Reason) Severity() Severity {
	if d := catalog[r.Code]; d != nil {
		return d.severity
	}
	return Info
}

// Same reports whether two reasons say the same.
func (r Reason) Same(other Reason) bool { return r.Code == other.Code && r.String() == other.String() }

// With returns the list with a reason, unless it is in it, or none.
func (list Reasons) With(r Reason) Reasons {
	if r.IsZero() || slices.ContainsFunc(list, r.Same) {
		return list
	}
	return append(list, r)
}

// Texts returns each with its remedy, for a reader of the whole installation.
func (list Reasons) Texts() []string {
	var texts []string
	for _, r := range list {
		texts = append(texts, r.String())
	}
	return texts
}

// String returns its text and remedy for a reader of the whole installation, with times in UTC.
func (r Reason) String() string { return Renderer{}.Sentence(r) }

// Document is a reason in JSON.
type Document struct {
	// The code of the sentence.
	Code Code `json:"code"`
	// The arguments of the sentence, by their names in its text.
	Args map[string]any `json:"args,omitempty"`
	// The sentence.
	Text string `json:"text"`
	// The remedy. Absent if there is none.
	Remedy string `json:"remedy,omitempty"`
}

// MarshalJSON writes the code, the arguments by their names, the text and the remedy.
func (r Reason) MarshalJSON() ([]byte, error) {
	return json.Marshal(Document{Code: r.Code, Args: r.named(), Text: Renderer{}.Text(r), Remedy: Renderer{}.Remedy(r)})
}

// named returns the arguments by their names.
func (r Reason) named() map[string]any {
	d := catalog[r.Code]
	if d == nil || len(r.Args) == 0 {
		return nil
	}
	args := make(map[string]any, len(r.Args))
	for n, p := range d.params {
		args[p.name] = r.Args[n]
		if list, nested := r.Args[n].(nesting); nested { // its text is in this one
			args[p.name] = list.compact()
		}
	}
	return args
}

// UnmarshalJSON reads the code and its arguments. A text without a code is of another version.
func (r *Reason) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*r = OtherVersion(NewForeign(text))
		return nil
	}
	var doc struct {
		stored
		Text   string `json:"text"`
		Remedy string `json:"remedy"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	*r = doc.reason(strings.TrimSpace(doc.Text + " " + doc.Remedy))
	if r.Code == otherVersion && doc.Code != otherVersion && doc.Text == "" { // in another reason, which has the text
		return fmt.Errorf("the code %q is unknown, and has no text", doc.Code)
	}
	return nil
}

// stored has the code and the arguments of a stored reason. Its text may be elsewhere.
type stored struct {
	Code Code                       `json:"code"`
	Args map[string]json.RawMessage `json:"args,omitempty"`
}

// reason returns the reason with a code and its arguments. A code that the catalog lacks, or that has other arguments
// there, is of another version, which wrote the text.
func (s stored) reason(text string) Reason {
	d := catalog[s.Code]
	if d == nil || len(s.Args) != len(d.params) {
		return OtherVersion(NewForeign(text))
	}
	r := Reason{Code: s.Code}
	for _, p := range d.params {
		value, err := p.decode(s.Args[p.name])
		if err != nil {
			return OtherVersion(NewForeign(text))
		}
		r.Args = append(r.Args, value)
	}
	return r
}

// compact is a reason whose text is elsewhere.
type compact struct {
	Code Code           `json:"code"`
	Args map[string]any `json:"args,omitempty"`
}

func (r Reason) compact() any { return compact{r.Code, r.named()} }

// nesting is an argument of reasons.
type nesting interface{ compact() any }

func (list Reasons) compact() any    { return mapped(list, Reason.compact) }
func (list Clauses) compact() any    { return mapped(list, Reason.compact) }
func (list Facts) compact() any      { return mapped(list, Reason.compact) }
func (list Some) compact() any       { return mapped(list, Reason.compact) }
func (list Lines) compact() any      { return mapped(list, Reason.compact) }
func (list Paragraphs) compact() any { return mapped(list, Reason.compact) }

// Compact returns the codes and arguments as JSON, for Read; empty if no reason has a code of its own.
func (list Reasons) Compact() string {
	rows, texts := make([]any, len(list)), 0
	for n, r := range list {
		if rows[n] = r.compact(); r.Code == otherVersion { // its text says it all
			rows[n] = compact{Code: r.Code}
			texts++
		}
	}
	if texts == len(list) {
		return ""
	}
	data, err := json.Marshal(rows)
	if err != nil { // no argument fails
		return ""
	}
	return string(data)
}

// Read returns the reasons of a column, from their codes and arguments, and their texts. A text that has no code, or one
// that the catalog lacks, is of another version.
func Read(details string, texts []string) Reasons {
	var rows []stored
	if json.Unmarshal([]byte(details), &rows) != nil || len(rows) != len(texts) {
		rows = make([]stored, len(texts))
	}
	list := make(Reasons, len(texts))
	for n, text := range texts {
		list[n] = rows[n].reason(text)
	}
	return list
}

// Bounded returns the first of them, at most some many. One whose arguments as JSON are longer than a number of bytes
// becomes a text without arguments, which is cut there.
func (list Reasons) Bounded(most, longest int) Reasons {
	if len(list) == 0 {
		return nil
	}
	kept := slices.Clone(list[:min(len(list), most)])
	for n, r := range kept {
		if len(Reasons{r}.Compact()) > longest {
			kept[n] = note(Text(strings.ToValidUTF8(r.String()[:min(len(r.String()), longest)], "")))
		}
	}
	return kept
}
