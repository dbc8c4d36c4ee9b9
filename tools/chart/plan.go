package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/manifests"
)

// unset is an option that a selection leaves open.
const unset = -1

// selection is a choice of each option.
type selection []int

// plan knows the objects of any selection.
type plan struct {
	keys     []string                     // of all objects, as "Kind/namespace/name"
	rendered map[string]map[string]object // by selection and key
	relevant map[string][]int             // options by key
	err      error
}

type object struct {
	content map[string]any
	text    string // to compare
}

func newPlan() *plan {
	p := &plan{rendered: map[string]map[string]object{}, relevant: map[string][]int{}}
	for _, base := range bases() {
		of := p.objects(base)
		if of == nil {
			p.err = errors.Join(p.err, fmt.Errorf("the options %v are invalid", base))
		}
		for n, o := range options {
			for c := range o.choices {
				other := slices.Clone(base)
				other[n] = c
				p.compare(of, p.objects(other), n)
			}
		}
	}
	for _, list := range p.relevant {
		slices.Sort(list)
	}
	return p
}

// bases are selections that show on which options an object depends: few and many options with each
// mode and enforcement.
func bases() []selection {
	var all []selection
	for m := range options[mode].choices {
		for e := range options[enforcement].choices {
			few := make(selection, len(options))
			few[mode], few[enforcement] = m, e
			many := make(selection, len(options))
			for n := range many {
				many[n] = 1
			}
			many[mode], many[enforcement], many[proxy], many[stockIn] = m, e, e%2, (e+m)%2
			for _, s := range []selection{few, many} {
				for _, need := range needs {
					if s[need.option] == need.choice && s[need.needed] != need.neededChoice {
						s[need.option] = 0
					}
				}
				all = append(all, s)
			}
		}
	}
	return all
}

// compare records that objects which differ depend on an option.
func (p *plan) compare(a, b map[string]object, option int) {
	if a == nil || b == nil {
		return
	}
	for _, key := range p.keys {
		if a[key].text != b[key].text && !slices.Contains(p.relevant[key], option) {
			p.relevant[key] = append(p.relevant[key], option)
		}
	}
}

// objects returns the objects of a selection by key; nil if the selection is invalid.
func (p *plan) objects(s selection) map[string]object {
	id := fmt.Sprint(s)
	if known, done := p.rendered[id]; done {
		return known
	}
	o := placeholders()
	for n, c := range s {
		options[n].choices[c].apply(&o)
	}
	if o.Mode == manifests.Serve && !o.BehindProxy {
		o.TLSSecret = tlsMark
	}
	list, err := manifests.Objects(o)
	if err != nil {
		p.rendered[id] = nil
		return nil
	}
	all := map[string]object{}
	for _, one := range list {
		plain, err := manifests.Plain(one.Object)
		if err != nil {
			p.err = err
			return nil
		}
		key := plain.GetKind() + "/" + plain.GetNamespace() + "/" + plain.GetName()
		text, err := json.Marshal(plain.Object)
		if err != nil {
			p.err = err
			return nil
		}
		all[key] = object{plain.Object, string(text)}
		if !slices.Contains(p.keys, key) {
			p.keys = append(p.keys, key)
		}
	}
	p.rendered[id] = all
	return all
}

// complete sets the open options to what the others need, else to their first choice. It returns nil
// if no selection has these choices.
func complete(s selection) selection {
	s = slices.Clone(s)
	for range needs {
		for _, need := range needs {
			if s[need.option] != need.choice {
				continue
			}
			switch s[need.needed] {
			case unset:
				s[need.needed] = need.neededChoice
			case need.neededChoice:
			default:
				return nil
			}
		}
	}
	for n := range s {
		s[n] = max(s[n], 0)
	}
	return s
}

// template returns the template of an object.
func (p *plan) template(key string) string {
	s := make(selection, len(options))
	for n := range s {
		s[n] = unset
	}
	text, _ := p.branch(key, p.relevant[key], s)
	return text
}

// branch returns the template for a selection whose relevant options are open; false if there is no
// such selection.
func (p *plan) branch(key string, relevant []int, s selection) (string, bool) {
	if len(relevant) == 0 {
		all := p.objects(orEmpty(complete(s)))
		if all == nil {
			return "", false
		}
		one, exists := all[key]
		if !exists {
			return "", true
		}
		return document(one.content), true
	}
	var texts []string // different ones
	values := map[string][]string{}
	option := options[relevant[0]]
	for c, choice := range option.choices {
		s[relevant[0]] = c
		text, possible := p.branch(key, relevant[1:], s)
		if !possible {
			continue
		}
		if len(values[text]) == 0 {
			texts = append(texts, text)
		}
		values[text] = append(values[text], choice.value)
	}
	s[relevant[0]] = unset
	switch len(texts) {
	case 0:
		return "", false
	case 1:
		return texts[0], true
	}
	return conditional(option, texts, values), true
}

func orEmpty(s selection) selection {
	if s == nil {
		return invalid
	}
	return s
}

// invalid is a selection without objects: a cordon without a mark.
var invalid = func() selection {
	s := make(selection, len(options))
	s[cordon] = 1
	return s
}()

// conditional returns a template that has one of some texts, by the value of an option.
func conditional(o option, texts []string, values map[string][]string) string {
	var out strings.Builder
	word := "if"
	for _, text := range texts {
		if text == "" {
			continue
		}
		fmt.Fprintf(&out, "{{- %s %s }}\n", word, condition(o, values[text]))
		out.WriteString(text)
		word = "else if"
	}
	out.WriteString("{{- end }}\n")
	return out.String()
}

func condition(o option, values []string) string {
	switch {
	case values[0] == "true":
		return o.expression
	case values[0] == "false":
		return "not (" + o.expression + ")"
	case len(values) == 1:
		return fmt.Sprintf("eq %s %q", o.expression, values[0])
	}
	return fmt.Sprintf("has %s (list \"%s\")", o.expression, strings.Join(values, `" "`))
}
