package wire

import (
	"encoding"
	"encoding/json"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"sync"
)

// formValue is a leaf from a query or a form, where every value is text; bind converts it to the
// type of the parameter.
type formValue string

// BindError is an invalid parameter and the reason.
type BindError struct {
	Path    string
	Unknown bool
	Message string
}

// Bind fills dst, a pointer to a struct, from decoded JSON or flattened form values. It is stricter
// than encoding/json: names are case-sensitive, unknown ones are rejected, and only formValue is
// converted. A JSON null counts as absent.
func Bind(tree map[string]any, dst any) *BindError {
	return bindStruct("", tree, reflect.ValueOf(dst).Elem())
}

func bindStruct(path string, tree map[string]any, dst reflect.Value) *BindError {
	fields := structFields(dst.Type())
	for name, src := range tree {
		at := join(path, name)
		index, known := fields[name]
		if !known {
			return &BindError{Path: at, Unknown: true, Message: "unknown parameter"}
		}
		if src == nil {
			continue
		}
		if err := bindValue(at, src, dst.FieldByIndex(index)); err != nil {
			return err
		}
	}
	return nil
}

func bindValue(path string, src any, dst reflect.Value) *BindError {
	if dst.Kind() == reflect.Pointer {
		target := reflect.New(dst.Type().Elem())
		if err := bindValue(path, src, target.Elem()); err != nil {
			return err
		}
		dst.Set(target)
		return nil
	}
	if dst.CanAddr() {
		if u, ok := dst.Addr().Interface().(encoding.TextUnmarshaler); ok {
			return bindText(path, src, u)
		}
	}
	switch dst.Kind() {
	case reflect.Struct:
		tree, ok := src.(map[string]any)
		if !ok {
			return mismatch(path, "an object", src)
		}
		return bindStruct(path, tree, dst)
	case reflect.Slice:
		return bindSlice(path, src, dst)
	case reflect.Map:
		return bindMap(path, src, dst)
	default:
		return bindScalar(path, src, dst)
	}
}

func bindText(path string, src any, dst encoding.TextUnmarshaler) *BindError {
	text, ok := textOf(src)
	if !ok {
		return mismatch(path, "a string", src)
	}
	if err := dst.UnmarshalText([]byte(text)); err != nil {
		return &BindError{Path: path, Message: err.Error()}
	}
	return nil
}

func bindSlice(path string, src any, dst reflect.Value) *BindError {
	items, ok := src.([]any)
	if tree, form := src.(map[string]any); form {
		items, ok = sequence(tree)
	}
	if !ok {
		return mismatch(path, "a list", src)
	}
	out := reflect.MakeSlice(dst.Type(), len(items), len(items))
	for i, item := range items {
		at := join(path, strconv.Itoa(i))
		if item == nil {
			return mismatch(at, "a value", item)
		}
		if err := bindValue(at, item, out.Index(i)); err != nil {
			return err
		}
	}
	dst.Set(out)
	return nil
}

func bindMap(path string, src any, dst reflect.Value) *BindError {
	tree, ok := src.(map[string]any)
	if !ok {
		return mismatch(path, "an object", src)
	}
	out := reflect.MakeMapWithSize(dst.Type(), len(tree))
	for name, item := range tree {
		value := reflect.New(dst.Type().Elem()).Elem()
		if err := bindValue(join(path, name), item, value); err != nil {
			return err
		}
		out.SetMapIndex(reflect.ValueOf(name), value)
	}
	dst.Set(out)
	return nil
}

func bindScalar(path string, src any, dst reflect.Value) *BindError {
	switch dst.Kind() {
	case reflect.String:
		text, ok := textOf(src)
		if !ok {
			return mismatch(path, "a string", src)
		}
		dst.SetString(text)
	case reflect.Bool:
		value, ok := src.(bool)
		if text, form := src.(formValue); form {
			ok, value = text == "true" || text == "false", text == "true"
		}
		if !ok {
			return mismatch(path, "a boolean", src)
		}
		dst.SetBool(value)
	case reflect.Int, reflect.Int64:
		n, err := strconv.ParseInt(numberOf(src), 10, 64)
		if err != nil || dst.OverflowInt(n) {
			return mismatch(path, "an integer", src)
		}
		dst.SetInt(n)
	case reflect.Uint64:
		n, err := strconv.ParseUint(numberOf(src), 10, 64)
		if err != nil {
			return mismatch(path, "a non-negative integer", src)
		}
		dst.SetUint(n)
	case reflect.Float64:
		f, err := strconv.ParseFloat(numberOf(src), 64)
		if err != nil || math.IsInf(f, 0) || math.IsNaN(f) {
			return mismatch(path, "a number", src)
		}
		dst.SetFloat(f)
	default:
		return &BindError{Path: path, Message: "cannot be given here"}
	}
	return nil
}

func textOf(src any) (string, bool) {
	switch v := src.(type) {
	case string:
		return v, true
	case formValue:
		return string(v), true
	}
	return "", false
}

// numberOf returns the digits of a number, or "" for anything else.
func numberOf(src any) string {
	switch v := src.(type) {
	case json.Number:
		return v.String()
	case formValue:
		return string(v)
	}
	return ""
}

// sequence converts {"0":a,"1":b} to [a b]; it reports false if the keys are not exactly 0 to n-1.
func sequence(tree map[string]any) ([]any, bool) {
	items := make([]any, len(tree))
	for key, item := range tree {
		i, err := strconv.Atoi(key)
		if err != nil || i < 0 || i >= len(items) || strconv.Itoa(i) != key {
			return nil, false
		}
		items[i] = item
	}
	return items, true
}

// nest converts flattened parameters ("Filters.0.Name") to a tree.
func nest(flat map[string]string) (map[string]any, *BindError) {
	root := map[string]any{}
	for key, value := range flat {
		node := root
		parts := strings.Split(key, ".")
		if len(parts) > 32 {
			return nil, &BindError{Path: key, Message: "is nested too deep"}
		}
		for i, part := range parts {
			if part == "" {
				return nil, &BindError{Path: key, Unknown: true, Message: "unknown parameter"}
			}
			if i == len(parts)-1 {
				if _, taken := node[part]; taken {
					return nil, &BindError{Path: key, Message: "is given both as a value and as an object"}
				}
				node[part] = formValue(value)
				break
			}
			child, ok := node[part].(map[string]any)
			if !ok {
				if _, taken := node[part]; taken {
					return nil, &BindError{Path: key, Message: "is given both as a value and as an object"}
				}
				child = map[string]any{}
				node[part] = child
			}
			node = child
		}
	}
	return root, nil
}

func mismatch(path, want string, src any) *BindError {
	return &BindError{Path: path, Message: fmt.Sprintf("must be %s, not %s", want, kindOf(src))}
}

func kindOf(src any) string {
	switch src.(type) {
	case nil:
		return "null"
	case string:
		return "a string"
	case json.Number:
		return "a number like this"
	case bool:
		return "a boolean"
	case []any:
		return "a list"
	case map[string]any:
		return "an object"
	}
	return "text like this"
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

var fieldCache sync.Map // reflect.Type → map[string][]int

// structFields maps the JSON names of a struct, embedded ones included, to
// field indices.
func structFields(t reflect.Type) map[string][]int {
	if cached, ok := fieldCache.Load(t); ok {
		return cached.(map[string][]int)
	}
	fields := map[string][]int{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if name == "" || name == "-" || !f.IsExported() {
			continue
		}
		fields[name] = f.Index
	}
	fieldCache.Store(t, fields)
	return fields
}

// Or returns the value of a pointer, or a default.
func Or[T any](p *T, otherwise T) T {
	if p == nil {
		return otherwise
	}
	return *p
}
