// Package reason has what gpupool says about an object: codes with typed arguments, and one catalog with the text and
// the remedy of each code.
package reason

import (
	"encoding/json"
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

// Same reports whether two reasons say the same.
func (r Reason) Same(other Reason) bool { return r.Code == other.Code && r.String() == other.String() }

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
	doc := Document{Code: r.Code, Text: Renderer{}.Text(r), Remedy: Renderer{}.Remedy(r)}
	if d := catalog[r.Code]; d != nil && len(r.Args) > 0 {
		doc.Args = make(map[string]any, len(r.Args))
		for n, p := range d.params {
			doc.Args[p.name] = r.Args[n]
		}
	}
	return json.Marshal(doc)
}

// UnmarshalJSON reads the code and its arguments. A text without a code, and a code that the catalog lacks or that has
// other arguments there, is of another version: it becomes OtherVersion.
func (r *Reason) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*r = OtherVersion(NewForeign(text))
		return nil
	}
	var doc struct {
		Document
		Args map[string]json.RawMessage `json:"args"`
	}
	if err := json.Unmarshal(data, &doc); err != nil {
		return err
	}
	known := catalog[doc.Code]
	if known == nil || len(doc.Args) != len(known.params) {
		*r = OtherVersion(NewForeign(strings.TrimSpace(doc.Text + " " + doc.Remedy)))
		return nil
	}
	read := Reason{Code: doc.Code}
	for _, p := range known.params {
		value, err := p.decode(doc.Args[p.name])
		if err != nil {
			*r = OtherVersion(NewForeign(strings.TrimSpace(doc.Text + " " + doc.Remedy)))
			return nil //nolint:nilerr // the text is kept
		}
		read.Args = append(read.Args, value)
	}
	*r = read
	return nil
}
