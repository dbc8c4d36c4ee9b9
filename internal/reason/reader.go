package reason

import (
	"slices"
	"strings"
)

// hidden stands for a text that only readers of the whole installation see.
const hidden = "(hidden: only readers of the whole installation see it)"

// Whole reports whether the reader sees the whole installation.
func (r Renderer) Whole() bool { return r.Sees == nil }

// Redact returns a reason as the reader may see it, also in JSON. An object that they may not see becomes its kind.
func (r Renderer) Redact(of Reason) Reason {
	if r.Whole() || of.IsZero() {
		return of
	}
	args := make([]Argument, len(of.Args))
	hides, elsewhere := slices.ContainsFunc(of.Args, r.hides), slices.ContainsFunc(of.Args, r.elsewhere)
	for n, a := range of.Args {
		if args[n] = r.redact(a); hides {
			args[n] = withoutNumber(args[n])
		}
		if elsewhere {
			args[n] = withoutValue(args[n])
		}
	}
	return Reason{Code: of.Code, Args: args}
}

// hides reports whether an argument names an object that the reader may not see. Then the numbers are that object's.
func (r Renderer) hides(a Argument) bool {
	switch a := a.(type) {
	case Object:
		return !r.SeesObject(a)
	case Objects:
		return slices.ContainsFunc(a, func(o Object) bool { return !r.SeesObject(o) })
	}
	return false
}

// withoutNumber returns an argument without an amount or a price.
func withoutNumber(a Argument) Argument {
	switch a.(type) {
	case Amount:
		return Amount("…")
	case Price:
		return Price{Amount: "…"}
	}
	return a
}

// elsewhere reports whether an argument is a pod or a workload of a namespace that the reader may not see. Then values are
// of that pod.
func (r Renderer) elsewhere(a Argument) bool {
	w, is := a.(Workload)
	return is && !r.SeesWorkload(string(w))
}

// withoutValue returns an argument without what a pod or a person wrote, also within another reason.
func withoutValue(a Argument) Argument {
	switch a := a.(type) {
	case Value:
		return Value("…")
	case Quoted:
		return Quoted("…")
	case Reason:
		return a.withoutValues()
	case Reasons:
		return Reasons(mapped(a, Reason.withoutValues))
	}
	return a
}

func (r Reason) withoutValues() Reason {
	return Reason{Code: r.Code, Args: mapped(r.Args, withoutValue)}
}

// Rewrite returns a reason whose foreign texts are as a function writes them.
func (r Reason) Rewrite(text func(string) string) Reason {
	args := slices.Clone(r.Args)
	for n, a := range args {
		switch a := a.(type) {
		case Foreign:
			args[n] = Foreign(text(string(a)))
		case Reason:
			args[n] = a.Rewrite(text)
		}
	}
	return Reason{Code: r.Code, Args: args}
}

// RedactAll redacts a list.
func (r Renderer) RedactAll(list Reasons) Reasons { return mapped(list, r.Redact) }

// Hide returns a text that gpupool did not write, or that may name anything, if the reader sees the whole installation.
func (r Renderer) Hide(text string) string {
	if r.Whole() || text == "" {
		return text
	}
	return hidden
}

// Message returns the text and the remedy of an error. One that is no reason may name anything.
func (r Renderer) Message(of Reason, message, remedy string) (string, string) {
	if of.IsZero() {
		return r.Hide(message), r.Hide(remedy)
	}
	text, todo := r.Text(of), r.Remedy(of)
	if todo == "" {
		todo = r.Hide(remedy)
	}
	return text, todo
}

// SeesObject reports whether the reader may see an object of the store.
func (r Renderer) SeesObject(o Object) bool { return r.Sees == nil || r.Sees(o) }

// SeesNamespace reports whether the reader may see the pods of a namespace.
func (r Renderer) SeesNamespace(name string) bool { return r.Namespace == nil || r.Namespace(name) }

// SeesWorkload reports whether the reader may see a pod or a workload, such as "ml/train-1" or "Deployment ml/train".
func (r Renderer) SeesWorkload(name string) bool { return r.SeesNamespace(namespaceOf(name)) }

func (r Renderer) redact(a Argument) Argument {
	switch a := a.(type) {
	case Object:
		return r.object(a)
	case Objects:
		return Objects(mapped(a, r.object))
	case Foreign:
		return Foreign(r.Hide(string(a)))
	case Text:
		return Text(r.Hide(string(a)))
	case Workload:
		if !r.SeesWorkload(string(a)) {
			kind, _, named := strings.Cut(string(a), " ")
			if !named {
				kind = "pod"
			}
			return Workload(kind + " of another namespace")
		}
	case Listed:
		seen := Listed{First: slices.DeleteFunc(slices.Clone(a.First), func(i Item) bool { return !r.SeesWorkload(i.Name) })}
		for n, item := range seen.First {
			seen.First[n].Why = r.Redact(item.Why)
		}
		seen.More = a.count() - len(seen.First)
		return seen
	case Reason:
		return r.Redact(a)
	case Reasons:
		return r.RedactAll(a)
	case Clauses:
		return Clauses(mapped(a, r.Redact))
	case Facts:
		return Facts(mapped(a, r.Redact))
	case Some:
		return Some(mapped(a, r.Redact))
	case Lines:
		return Lines(mapped(a, r.Redact))
	case Paragraphs:
		return Paragraphs(mapped(a, r.Redact))
	}
	return a
}

func (r Renderer) object(o Object) Object {
	if r.SeesObject(o) {
		return o
	}
	kind, _, _ := strings.Cut(string(o), "/")
	return Object(kind)
}

// namespaceOf returns the namespace of "ml/train-1" or "Deployment ml/train".
func namespaceOf(name string) string {
	namespace, _, _ := strings.Cut(name[strings.LastIndex(name, " ")+1:], "/")
	return namespace
}

// Each returns a list as a reader may see each of its items.
func Each[T interface{ For(reader Renderer) T }](list []T, reader Renderer) []T {
	return mapped(list, func(of T) T { return of.For(reader) })
}

// mapped returns a list of what a function returns of each; nil for nil.
func mapped[T, U any](list []T, of func(T) U) []U {
	if list == nil {
		return nil
	}
	out := make([]U, len(list))
	for n, item := range list {
		out[n] = of(item)
	}
	return out
}
