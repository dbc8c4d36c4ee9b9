package main

import (
	"errors"
	"fmt"
	"go/ast"
	"reflect"
	"strconv"
	"strings"
)

// A row describes one field: its path in the JSON, its type and its meaning.
type row struct{ path, kind, meaning string }

// A walk collects the fields of a type, and of the types that it contains, except of those with a
// section of their own.
type walk struct {
	*source
	of       name
	sections map[name]string // links, by type
	rows     []row
	problems []error
}

func (w *walk) problemf(format string, args ...any) {
	w.problems = append(w.problems, fmt.Errorf(format, args...))
}

// walkFields returns the fields of a type. The errors name fields without a comment.
func (s *source) walkFields(of name, sections map[name]string) ([]row, error) {
	w := &walk{source: s, of: of, sections: sections}
	w.object(of, "", "")
	return w.rows, errors.Join(w.problems...)
}

// object adds the fields of a struct.
func (w *walk) object(of name, prefix, optional string) {
	d, known := w.types[of]
	fields, isStruct := d.expr.(*ast.StructType)
	if !known || !isStruct {
		w.problemf("%s is not a struct: correct the list of sections in tools/reference", of)
		return
	}
	for _, f := range fields.Fields.List {
		w.field(d, f, prefix, optional)
	}
}

func (w *walk) field(d declared, f *ast.Field, prefix, optional string) {
	tag := ""
	if f.Tag != nil {
		if text, err := strconv.Unquote(f.Tag.Value); err == nil {
			tag = reflect.StructTag(text).Get("json")
		}
	}
	key, options, _ := strings.Cut(tag, ",")
	switch {
	case key == "-":
		return
	case len(f.Names) == 0 && key == "":
		w.embedded(d, f.Type, prefix, comment("", f.Doc, f.Comment))
		return
	case !f.Names[0].IsExported() && tag == "":
		return
	}
	ident := f.Names[0].Name
	if key == "" {
		w.problemf("%s.%s has no json tag", d.name, ident)
		return
	}
	meaning := comment(ident, f.Doc, f.Comment)
	if meaning == "" {
		w.problemf("%s.%s has no comment", d.name, ident)
	}
	if strings.Contains(options, "omit") {
		optional = ", optional"
	}
	w.value(d, f.Type, prefix+key, optional, meaning)
}

// embedded adds the fields of an embedded struct, or a link to them. Their note is the comment of the
// embedded field.
func (w *walk) embedded(d declared, e ast.Expr, prefix, note string) {
	of, named := d.named(baseType(e))
	if !named {
		w.problemf("%s embeds something without a name", d.name)
		return
	}
	if link := w.sections[of]; link != "" {
		w.rows = append(w.rows, row{prefix + "…", link, strings.TrimSpace(sameFields + " " + note)})
		return
	}
	optional := ""
	if baseType(e) != e {
		optional = ", optional"
	}
	first := len(w.rows)
	w.object(of, prefix, optional)
	for n := range w.rows[first:] {
		if r := &w.rows[first+n]; !strings.Contains(strings.TrimPrefix(r.path, prefix), ".") {
			r.meaning = strings.TrimSpace(r.meaning + " " + note)
		}
	}
}

// value adds the row of a field, and those of the object that it is or contains.
func (w *walk) value(d declared, e ast.Expr, path, optional, meaning string) {
	collection := ""
	for {
		switch t := e.(type) {
		case *ast.StarExpr:
			if optional == "" {
				optional = " or null"
			}
			e = t.X
			continue
		case *ast.ArrayType:
			path, collection, e = path+"[]", collection+"array of ", t.Elt
			continue
		case *ast.MapType:
			path, collection, e = path+".KEY", collection+"map of ", t.Value
			continue
		}
		break
	}
	of, named := d.named(e)
	if !named {
		w.problemf("%s: %s has an unnamed type", d.name, path)
		return
	}
	if form, custom := forms[of]; custom {
		of = form
	}
	if kind, known := w.kind(of); known {
		w.rows = append(w.rows, row{path, collection + kind + optional, meaning})
		return
	}
	inner, known := w.types[of]
	if !known {
		w.problemf("%s: %s has the unknown type %s", d.name, path, of)
		return
	}
	switch inner.expr.(type) {
	case *ast.StructType:
		w.rows = append(w.rows, row{path, collection + "object" + optional, meaning})
		w.object(of, path+".", "")
	case *ast.Ident, *ast.SelectorExpr, *ast.ArrayType, *ast.MapType:
		w.value(inner, inner.expr, path, optional, meaning)
	default:
		w.problemf("%s: %s has the type %s, which JSON has not", d.name, path, of)
	}
}

// written are the types that write their own JSON, and those of the standard library.
var written = map[name]string{
	{"time", "Time"}:                "time",
	{"encoding/json", "Number"}:     "number",
	{"encoding/json", "RawMessage"}: "any",
	{"spotpool", "Price"}:           "decimal string",
	{"spotpool", "Duration"}:        "duration",
	{"node", "span"}:                "duration",
	{"ledger", "Labels"}:            "map of string",
	{"cli/export", "stamp"}:         "time",
	{"cli/export", "billionths"}:    "number",
}

// forms are the structs as which types write themselves.
var forms = map[name]name{
	{"budget", "Pod"}:               {"budget", "podForm"},
	{"reason", "Reason"}:            {"reason", "Document"},
	{"reconcile/outcome", "Result"}: {"reconcile/outcome", "resultForm"},
}

// kind describes a type that is not an object, or has a section; false if it is another.
func (w *walk) kind(of name) (string, bool) {
	if link := w.sections[of]; link != "" {
		return link, true
	}
	if text := written[of]; text != "" {
		return text, true
	}
	if w.custom[of] {
		w.problemf("%s writes its own JSON: describe it in tools/reference", of)
	}
	switch of.ident {
	case "string":
		return "string", true
	case "any":
		return "any", true
	case "bool":
		return "boolean", true
	case "int", "int32", "int64":
		return "integer", true
	}
	values := w.values[of]
	if len(values) == 0 {
		return "", false
	}
	if anchor := codeAnchors()[of]; anchor != "" {
		return "[string](codes.md#" + anchor + ")", true
	}
	var texts []string
	for _, v := range values {
		if v.text != "" {
			texts = append(texts, quoted(v.text))
		}
	}
	return strings.Join(texts, ", "), true
}
