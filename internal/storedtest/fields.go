// Package storedtest compares stored documents with golden lists of their fields, one for each
// version. A field that is added, renamed or changed is then a decision and not an accident.
package storedtest

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the lists of stored fields again")

const advice = `%s does not list the fields of the documents of version %d as they are.
%s

An older gpupool cannot read a document with an unknown or changed field. So decide first:
- Before the first release no such document exists. Run go test . -update to write the list.
- After it, an optional field (omitempty, omitzero) may stay within the version.
  Test that an older reader stops, reports that it is too old, and changes nothing.
- Otherwise raise the version, read the older documents, test that, and keep their list. Run go test . -update to write the new one.
`

// Fields compares the fields of documents of a version, by what each document is
// called, with testdata/fields_vVERSION.txt. The flag -update writes that list.
func Fields(t *testing.T, version int, documents map[string]reflect.Type) {
	t.Helper()
	var lines []string
	for _, name := range slices.Sorted(maps.Keys(documents)) {
		l := &list{}
		l.add(name, documents[name], "")
		lines = append(lines, l.lines...)
	}
	name := filepath.Join("testdata", fmt.Sprintf("fields_v%d.txt", version))
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.MkdirAll("testdata", 0o750); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v: a new version gets its list by go test . -update", err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf(advice, name, version, diff)
	}
}

// list gathers the fields of a document, a line each.
type list struct {
	lines []string
	above []reflect.Type // what is in itself is listed once
}

func (l *list) add(name string, t reflect.Type, options string) {
	switch kind := t.Kind(); {
	case isText(t):
		l.lines = append(l.lines, strings.TrimSpace(fmt.Sprintf("%s %s as %s %s", name, t, written(t), options)))
	case kind == reflect.Pointer:
		l.add(name, t.Elem(), strings.TrimSpace("null "+options))
	case kind == reflect.Slice || kind == reflect.Array:
		l.add(name+"[]", t.Elem(), options)
	case kind == reflect.Map:
		l.add(name+"{}", t.Elem(), options)
	case kind == reflect.Struct && slices.Contains(l.above, t):
		l.lines = append(l.lines, strings.TrimSpace(fmt.Sprintf("%s as above %s", name, options)))
	case kind == reflect.Struct:
		l.lines = append(l.lines, strings.TrimSpace(name+" object "+options))
		l.above = append(l.above, t)
		l.fields(name, t)
		l.above = l.above[:len(l.above)-1]
	default:
		l.lines = append(l.lines, strings.TrimSpace(fmt.Sprintf("%s %s %s", name, kind, options)))
	}
}

func (l *list) fields(above string, t reflect.Type) {
	for field := range fieldsOf(t) {
		tag, _ := field.Tag.Lookup("json")
		if columns, ok := field.Tag.Lookup("parquet"); ok {
			tag = columns
		}
		called, options, _ := strings.Cut(tag, ",")
		switch {
		case field.Anonymous && called == "":
			l.fields(above, field.Type)
		case called == "-" || !field.IsExported():
		case called == "":
			l.add(above+"."+field.Name, field.Type, options)
		default:
			l.add(above+"."+called, field.Type, options)
		}
	}
}

func fieldsOf(t reflect.Type) func(yield func(reflect.StructField) bool) {
	return func(yield func(reflect.StructField) bool) {
		for n := range t.NumField() {
			if !yield(t.Field(n)) {
				return
			}
		}
	}
}

var marshaler = reflect.TypeFor[json.Marshaler]()
var textMarshaler = reflect.TypeFor[interface{ MarshalText() ([]byte, error) }]()

func isText(t reflect.Type) bool {
	return t.Kind() != reflect.Pointer && (t.Implements(marshaler) || t.Implements(textMarshaler))
}

// written returns the JSON of a value with its own encoding.
func written(t reflect.Type) string {
	value := reflect.New(t).Elem()
	if value.CanInt() { // zero may be written as nothing
		value.SetInt(1)
	}
	data, err := json.Marshal(value.Interface())
	switch {
	case err != nil || len(data) == 0:
		return "its own"
	case data[0] == '"':
		return "string"
	case data[0] == '{':
		return "object"
	case data[0] == '[':
		return "list"
	case data[0] == 't' || data[0] == 'f':
		return "bool"
	case data[0] == 'n':
		return "its own"
	}
	return "number"
}
