package manifests

import (
	"bytes"
	"fmt"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// YAML prints objects for kubectl apply. The same objects give the same bytes.
func YAML(objects []Object) ([]byte, error) {
	var out bytes.Buffer
	for _, o := range objects {
		plain, err := Plain(o.Object)
		if err != nil {
			return nil, err
		}
		text, err := yaml.Marshal(plain.Object)
		if err != nil {
			return nil, fmt.Errorf("%s %s cannot be written as YAML: %w", plain.GetKind(), plain.GetName(), err)
		}
		out.WriteString("---\n")
		if o.Why != "" {
			out.WriteString("# " + o.Why + "\n")
		}
		out.Write(text)
	}
	return out.Bytes(), nil
}

// Plain returns an object without what the API server fills in.
func Plain(o runtime.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(o)
	if err != nil {
		return nil, fmt.Errorf("a %T cannot be written: %w", o, err)
	}
	delete(content, "status")
	if spec, ok := content["spec"].(map[string]any); ok && len(spec) == 0 {
		delete(content, "spec")
	}
	clean(content)
	return &unstructured.Unstructured{Object: content}, nil
}

// clean removes empty fields that Go's types print.
func clean(value any) {
	switch v := value.(type) {
	case map[string]any:
		if created, ok := v["creationTimestamp"]; ok && created == nil {
			delete(v, "creationTimestamp")
		}
		for _, inner := range v {
			clean(inner)
		}
	case []any:
		for _, inner := range v {
			clean(inner)
		}
	}
}
