package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"

	kubecluster "github.com/gpupool/terraform-provider-gpupool/internal/kube/cluster"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func hash(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// document returns the template of one object.
func document(content map[string]any) string {
	var w writer
	w.value(content, 0)
	text := "---\n" + strings.TrimPrefix(w.String(), "\n") + "\n"
	metadata, _ := content["metadata"].(map[string]any)
	first := kubecluster.FreezeSlotNames()[0]
	switch {
	case metadata["namespace"] == stockMark:
		return "{{- range $stock := $.Values.stockPools.namespaces | uniq | sortAlpha }}\n" + text + "{{- end }}\n"
	case metadata["name"] == first:
		const number = `{{ printf "%02d" $slot }}`
		text = strings.ReplaceAll(text, first, strings.TrimSuffix(first, "01")+number)
		text = strings.ReplaceAll(text, `"01"`, `"`+number+`"`)
		return "{{- range $slot := untilStep 1 (int (add 1 $.Values.freezeSlots)) 1 }}\n" + text + "{{- end }}\n"
	}
	return text
}

// writer writes YAML. A text with a value in it is in double quotes, so that no value can end it.
type writer struct{ strings.Builder }

func (w *writer) line(depth int, text string) {
	w.WriteString("\n" + strings.Repeat("  ", depth) + text)
}

// value writes a value after its key, or after the hyphen of a list.
func (w *writer) value(value any, depth int) {
	switch v := value.(type) {
	case map[string]any:
		if _, selector := v[labelMark]; selector {
			w.WriteString(" {{ toJson $.Values.noticeWatch.nodeSelector }}")
			return
		}
		if len(v) == 0 {
			w.WriteString(" {}")
			return
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			w.line(depth, scalar(key)+":")
			w.value(v[key], depth+1)
		}
	case []any:
		if len(v) == 0 {
			w.WriteString(" []")
		}
		for _, item := range v {
			w.item(item, depth)
		}
	default:
		w.WriteString(" " + scalar(v))
	}
}

// item writes an item of a list. A map begins on the line of the hyphen.
func (w *writer) item(item any, depth int) {
	if item == argumentMark {
		w.line(depth, "{{- range $.Values.arguments }}")
		w.line(depth, "- {{ toJson . }}")
		w.line(depth, "{{- end }}")
		return
	}
	if variable, _ := item.(map[string]any); variable["name"] == spotpool.CurrencyVariable {
		w.line(depth, "{{- with $.Values.currency }}")
		w.line(depth, "- name: "+spotpool.CurrencyVariable)
		w.line(depth, "  value: {{ toJson . }}")
		w.line(depth, "{{- end }}")
		return
	}
	w.line(depth, "-")
	if _, isMap := item.(map[string]any); !isMap {
		w.value(item, depth+1)
		return
	}
	var inner writer
	inner.value(item, depth+1)
	w.WriteString(" " + strings.TrimLeft(inner.String(), "\n "))
}

// plain are texts that mean themselves in YAML.
var plain = regexp.MustCompile(`^[A-Za-z/][A-Za-z0-9./_-]*$`)

// words mean something else in YAML.
var words = []string{"true", "false", "yes", "no", "on", "off", "null", "y", "n"}

var substitute = substitutions()

func scalar(value any) string {
	switch v := value.(type) {
	case string:
		if v == budgetsMark {
			return `{{ include "gpupool.budgets" $ | toJson }}`
		}
		quoted := substitute.Replace(quote(v))
		if quoted == `"`+v+`"` && plain.MatchString(v) && !slices.Contains(words, strings.ToLower(v)) {
			return v
		}
		return quoted
	case int64:
		if v == int64((timeoutMark+time.Minute)/time.Second) {
			return "{{ add (int64 $.Values.timeoutSeconds) 60 }}"
		}
	}
	return fmt.Sprint(value)
}

func quote(text string) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(text); err != nil {
		return `""` // a string can be encoded
	}
	return strings.TrimSuffix(out.String(), "\n")
}
