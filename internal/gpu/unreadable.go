package gpu

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"
)

// unreadable returns an error that names the field that cannot be read, and its value. The library
// reports neither for a quantity or a time. If it finds no such field, it returns the library's
// error.
func unreadable(data []byte, cause error) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if decoder.Decode(&tree) != nil {
		return cause
	}
	if err := readable(tree, "", ""); err != nil {
		return err
	}
	var kind *json.UnmarshalTypeError
	if errors.As(cause, &kind) && kind.Field != "" {
		return fmt.Errorf("its %s must not be a JSON %s: %s", clip(kind.Field), clip(kind.Value), correct)
	}
	return cause
}

const correct = "correct it, or leave the object out of the list"

// longestPath limits the path of a field that is examined.
const longestPath = 400

// readable checks the fields of an object, in order. It skips fields with free content, such as
// labels.
func readable(value any, path, name string) error {
	if len(path) > longestPath {
		return nil // no field that is read is as deep
	}
	switch v := value.(type) {
	case map[string]any:
		for _, key := range sortedKeys(v) {
			at := path + "." + clip(key)
			if path == "" {
				at = clip(key)
			}
			if strings.ContainsAny(key, "./") {
				at = fmt.Sprintf("%s[%q]", path, clip(key))
			}
			var err error
			switch {
			case oneOf(key, "labels", "annotations", "nodeselector", "matchlabels"):
			case oneOf(name, "requests", "limits", "overhead", "allocatedresources", "capacity", "allocatable"), oneOf(key, "sizelimit", "divisor"):
				err = readableQuantity(v[key], at)
			case oneOf(key, "creationtimestamp", "deletiontimestamp", "starttime", "startedat", "finishedat", "lasttransitiontime",
				"lastprobetime", "lastheartbeattime", "timeadded", "time"):
				err = readableTime(v[key], at)
			default:
				err = readable(v[key], at, key)
			}
			if err != nil {
				return err
			}
		}
	case []any:
		for n, inner := range v {
			if err := readable(inner, fmt.Sprintf("%s[%d]", path, n), name); err != nil {
				return err
			}
		}
	}
	return nil
}

// oneOf compares fields as encoding/json does, in any case.
func oneOf(field string, names ...string) bool {
	for _, name := range names {
		if strings.EqualFold(field, name) {
			return true
		}
	}
	return false
}

func readableQuantity(value any, path string) error {
	if value == nil {
		return nil
	}
	if _, err := resource.ParseQuantity(strings.TrimSpace(fmt.Sprint(value))); err != nil {
		return fmt.Errorf("its %s is the invalid quantity %q, not such as 1, 500m or 16Gi: %s", path, clip(fmt.Sprint(value)), correct)
	}
	return nil
}

func readableTime(value any, path string) error {
	if value == nil {
		return nil
	}
	if _, err := time.Parse(time.RFC3339, fmt.Sprint(value)); err != nil {
		return fmt.Errorf("its %s is the invalid time %q, not such as 2026-11-20T08:00:00Z: %s", path, clip(fmt.Sprint(value)), correct)
	}
	return nil
}
