package gpu

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"

	corev1 "k8s.io/api/core/v1"
)

// DecodePod decodes one pod of the JSON that kubectl prints. It is for JSON from outside of a
// cluster; clients decode what an API server sends.
func DecodePod(data []byte) (*corev1.Pod, error) { return decode[corev1.Pod](data) }

// DecodeNode decodes one node in the same way.
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

// longestExponent limits the digits of a quantity's exponent. Rounding a quantity with many more
// never finishes (resource.ParseQuantity computes the power of ten).
const longestExponent = 4

var boundlessQuantity = regexp.MustCompile(`^[+-]?[0-9.]+[eE][+-]?[0-9]{5,}$`)

// boundedQuantities rejects quantities with a longer exponent. Other texts, such as a commit hash
// in a label, may look the same and are allowed.
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

// hasBoundlessExponent looks for an e that more digits follow than any exponent has. It reads every
// byte of every pod, so it does not use a regular expression.
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

// isExponent reports whether a text ends with an e and an optional sign.
func isExponent(before []byte) bool {
	before = bytes.TrimRight(before, "+-")
	return len(before) > 0 && before[len(before)-1]|0x20 == 'e'
}

// bounded checks the values that are quantities: those in resource lists and single ones.
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

// isQuantities matches field names as encoding/json does, in any case.
func isQuantities(field string) bool {
	switch string(bytes.ToLower([]byte(field))) {
	case "requests", "limits", "overhead", "allocatedresources", "resources", "sizelimit", "divisor", "capacity", "allocatable":
		return true
	}
	return false
}
