package reason

import (
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/wording"
)

// Renderer writes reasons for one reader. The zero value writes for a reader of the whole installation, with times in UTC.
type Renderer struct {
	// Instant formats a time; nil for RFC 3339 in UTC.
	Instant func(time.Time) string
	// Sees reports whether the reader may see an object; nil if the reader may see everything. Namespace reports whether
	// they may see the pods of a namespace.
	Sees      func(Object) bool
	Namespace func(string) bool
}

func (r Renderer) instant(at time.Time) string {
	if r.Instant == nil {
		return wording.Instant(at)
	}
	return r.Instant(at)
}

// Text returns the text of a reason, without its remedy.
func (r Renderer) Text(of Reason) string {
	d := catalog[of.Code]
	if d == nil {
		return string(of.Code)
	}
	return r.fill(d.text, r.Redact(of).Args, r.Text)
}

// Texts returns the texts of reasons, without their remedies.
func (r Renderer) Texts(list Reasons) []string { return mapped(list, r.Text) }

// Remedy returns what to do about a reason; empty if there is nothing. In a remedy, another reason stands for its own one.
func (r Renderer) Remedy(of Reason) string {
	d := catalog[of.Code]
	if d == nil {
		return ""
	}
	return r.fill(d.remedy, r.Redact(of).Args, r.Remedy)
}

// listItem begins a line of a list.
const listItem = "\n- "

// Sentence returns the text of a reason, and then its remedy, which is on a line of its own after a list.
func (r Renderer) Sentence(of Reason) string {
	text, remedy := r.Text(of), r.Remedy(of)
	switch {
	case remedy == "":
		return text
	case strings.Contains(text, listItem):
		return text + "\n" + remedy
	}
	return strings.TrimSuffix(text, ".") + ". " + remedy
}

// fill returns a template with its arguments. A reason that is one of them is written by nested.
func (r Renderer) fill(t template, args []Argument, nested func(Reason) string) string {
	var b strings.Builder
	for _, p := range t {
		switch of, isReason := p.argument(args).(Reason); {
		case p.literal != "":
			b.WriteString(p.literal)
		case p.words:
			b.WriteString(wording.Plural(args[p.param].count(), p.one, p.many))
		case isReason:
			b.WriteString(nested(of))
		default:
			b.WriteString(args[p.param].render(r))
		}
	}
	return b.String()
}
