package reason

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// Severity says how much a reason matters.
type Severity string

// The severities.
const (
	Info    Severity = "info"    // it explains a state
	Warning Severity = "warning" // an operator should check it
)

// definition is the entry of a code in the catalog.
type definition struct {
	code         Code
	severity     Severity
	text, remedy template
	params       []param
}

// template is a text with arguments: literals and parameters in turn. It is parsed once, since decisions write many reasons.
type template []part

// part is a literal, or else what a template has of an argument: its value, or one of two words by its count.
type part struct {
	literal   string
	param     int
	words     bool
	one, many string
}

// argument returns the argument of a part; nil for a literal.
func (p part) argument(args []Argument) Argument {
	if p.literal != "" {
		return nil
	}
	return args[p.param]
}

type param struct {
	name   string
	decode func(json.RawMessage) (Argument, error)
}

// catalog has every code.
var catalog = map[Code]*definition{}

// Entry is a code of the catalog, for its documentation.
type Entry struct {
	Code         Code
	Severity     Severity
	Text, Remedy string // with the names of the arguments in braces, for several things
}

// Catalog returns every code, sorted.
func Catalog() []Entry {
	list := make([]Entry, 0, len(catalog))
	for _, code := range slices.Sorted(maps.Keys(catalog)) {
		d := catalog[code]
		list = append(list, Entry{Code: code, Severity: d.severity, Text: d.describe(d.text), Remedy: d.describe(d.remedy)})
	}
	return list
}

// describe returns a template for people, with the words for several things.
func (d *definition) describe(t template) string {
	var b strings.Builder
	for _, p := range t {
		switch {
		case p.literal != "":
			b.WriteString(p.literal)
		case p.words:
			b.WriteString(p.many)
		default:
			b.WriteString("{" + d.params[p.param].name + "}")
		}
	}
	return b.String()
}

// parameter matches an argument in a template: its name, and for a word that depends on its count, the words for one and
// for several. These words have no arguments of their own.
var parameter = regexp.MustCompile(`\{([a-z_]+)(?::([^|}]*)\|([^}]*))?\}`)

// define adds a code. Its parameters are the arguments of the templates, in the order of their first appearance.
// It panics if the templates have another number of arguments, or if the code is taken.
func define(code Code, severity Severity, text, remedy string, decoders ...func(json.RawMessage) (Argument, error)) *definition {
	d := &definition{code: code, severity: severity}
	d.text, d.remedy = d.parse(text), d.parse(remedy)
	if len(d.params) != len(decoders) || catalog[code] != nil {
		panic(fmt.Sprintf("the reason %s has %d arguments in its texts and %d in its constructor, or is defined twice", code, len(d.params), len(decoders)))
	}
	for n := range d.params {
		d.params[n].decode = decoders[n]
	}
	catalog[code] = d
	return d
}

// parse parses a template, and adds the parameters that are new in it.
func (d *definition) parse(text string) (t template) {
	literal := func(s string) {
		if s != "" {
			t = append(t, part{literal: s})
		}
	}
	end := 0
	for _, at := range parameter.FindAllStringSubmatchIndex(text, -1) {
		literal(text[end:at[0]])
		end = at[1]
		name, p := text[at[2]:at[3]], part{words: at[4] >= 0}
		if p.words {
			p.one, p.many = text[at[4]:at[5]], text[at[6]:at[7]]
		}
		p.param = slices.IndexFunc(d.params, func(p param) bool { return p.name == name })
		if p.param < 0 {
			p.param, d.params = len(d.params), append(d.params, param{name: name})
		}
		t = append(t, p)
	}
	literal(text[end:])
	return t
}

func decode[A Argument](data json.RawMessage) (Argument, error) {
	var a A
	err := json.Unmarshal(data, &a)
	return a, err
}

func (d *definition) make(args ...Argument) Reason { return Reason{Code: d.code, Args: args} }

// The constructors of codes with none to five arguments.

// none makes one that only explains, and has no remedy.
func none(code Code, text string) func() Reason {
	d := define(code, Info, text, "")
	return func() Reason { return d.make() }
}

// warning makes one that an operator should check, without arguments or a remedy.
func warning(code Code, text string) func() Reason {
	d := define(code, Warning, text, "")
	return func() Reason { return d.make() }
}

// remedied makes one that an operator should check, without arguments.
func remedied(code Code, text, remedy string) func() Reason {
	d := define(code, Warning, text, remedy)
	return func() Reason { return d.make() }
}

func one[A Argument](code Code, s Severity, text, remedy string) func(A) Reason {
	d := define(code, s, text, remedy, decode[A])
	return func(a A) Reason { return d.make(a) }
}

func two[A, B Argument](code Code, s Severity, text, remedy string) func(A, B) Reason {
	d := define(code, s, text, remedy, decode[A], decode[B])
	return func(a A, b B) Reason { return d.make(a, b) }
}

func three[A, B, C Argument](code Code, s Severity, text, remedy string) func(A, B, C) Reason {
	d := define(code, s, text, remedy, decode[A], decode[B], decode[C])
	return func(a A, b B, c C) Reason { return d.make(a, b, c) }
}

func four[A, B, C, D Argument](code Code, s Severity, text, remedy string) func(A, B, C, D) Reason {
	d := define(code, s, text, remedy, decode[A], decode[B], decode[C], decode[D])
	return func(a A, b B, c C, e D) Reason { return d.make(a, b, c, e) }
}

func five[A, B, C, D, E Argument](code Code, s Severity, text, remedy string) func(A, B, C, D, E) Reason {
	d := define(code, s, text, remedy, decode[A], decode[B], decode[C], decode[D], decode[E])
	return func(a A, b B, c C, e D, f E) Reason { return d.make(a, b, c, e, f) }
}
