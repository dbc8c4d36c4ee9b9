package gpu

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// DecodePod reads one pod of the JSON that kubectl prints. It is for JSON from
// outside of a cluster; what an API server sends is decoded by its client.
func DecodePod(data []byte) (*corev1.Pod, error) { return decode[corev1.Pod](data) }

// DecodeNode reads one node in the same way.
func DecodeNode(data []byte) (*corev1.Node, error) { return decode[corev1.Node](data) }

func decode[T any](data []byte) (*T, error) {
	if err := boundedQuantities(data); err != nil {
		return nil, err
	}
	object := new(T)
	if err := json.Unmarshal(data, object); err != nil {
		return nil, unreadable(data, err)
	}
	return object, nil
}

// longestExponent is how many digits the exponent of a quantity may have. With
// many more it takes for ever to round (resource.ParseQuantity computes the power
// of ten).
const longestExponent = 4

var boundlessQuantity = regexp.MustCompile(`^[+-]?[0-9.]+[eE][+-]?[0-9]{5,}$`)

// boundedQuantities refuses such quantities. Other texts, such as the hash of a
// commit in a label, may look the same.
func boundedQuantities(data []byte) error {
	if !hasBoundlessExponent(data) {
		return nil
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var tree any
	if err := decoder.Decode(&tree); err != nil {
		return err
	}
	return bounded(tree, "")
}

// hasBoundlessExponent looks for an e with more digits behind it than any
// exponent has. It looks at every byte of every pod, and so is no expression.
func hasBoundlessExponent(data []byte) bool {
	digits := 0
	for n, c := range data {
		if '0' <= c && c <= '9' {
			digits++
			continue
		}
		if digits > longestExponent && isExponent(data[:n-digits]) {
			return true
		}
		digits = 0
	}
	return digits > longestExponent && isExponent(data[:len(data)-digits])
}

// isExponent says whether a text ends with an e, and perhaps a sign.
func isExponent(before []byte) bool {
	before = bytes.TrimRight(before, "+-")
	return len(before) > 0 && before[len(before)-1]|0x20 == 'e'
}

// bounded looks at the values that are quantities: those in lists of resources,
// and those that stand alone.
func bounded(value any, in string) error {
	switch v := value.(type) {
	case map[string]any:
		for key, inner := range v {
			name := key
			if isQuantities(in) && !isQuantities(key) {
				name = in
			}
			if err := bounded(inner, name); err != nil {
				return err
			}
		}
	case []any:
		for _, inner := range v {
			if err := bounded(inner, in); err != nil {
				return err
			}
		}
	case string, json.Number:
		if text := fmt.Sprint(v); isQuantities(in) && boundlessQuantity.MatchString(text) {
			return fmt.Errorf("the quantity %q in %s is out of range", clip(text), in)
		}
	}
	return nil
}

// isQuantities knows the fields by the names that encoding/json takes for them,
// in whatever case.
func isQuantities(field string) bool {
	switch string(bytes.ToLower([]byte(field))) {
	case "requests", "limits", "overhead", "allocatedresources", "resources", "sizelimit", "divisor", "capacity", "allocatable":
		return true
	}
	return false
}
