package usage

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestUsageStopsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	list := kubectlList{kind: "Pod", plural: "pods", item: func(json.RawMessage) (string, error) {
		cancel(errors.New("interrupted"))
		return "Pod", nil
	}}
	err := list.read(ctx, strings.NewReader(`{"apiVersion":"v1","kind":"PodList","items":[{},{},{}]}`))
	if !errors.Is(err, context.Canceled) {
		t.Errorf("the error is %v", err)
	}
}

// FuzzKubeList reads whatever is given as a list: it ends, and a list that is
// taken for whole is valid JSON of the right kind.
func FuzzKubeList(f *testing.F) {
	for _, seed := range []string{
		`{"apiVersion":"v1","items":[{"kind":"Pod","metadata":{"name":"a"}}],"kind":"List"}`,
		`{"kind":"PodList","apiVersion":"v1","metadata":{"continue":""},"items":null}`,
		"\xef\xbb\xbf {\"items\":[[]]}", `{"items":[{"kind":"Pod"}`, `{}{}`, `[]`, ``, `{"metadata":7}`, `{"kind":{}}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items := 0
		list := kubectlList{kind: "Pod", plural: "pods", item: func(raw json.RawMessage) (string, error) {
			items++
			pod, err := gpu.DecodePod(raw)
			if err != nil {
				return "", err
			}
			return pod.Kind, nil
		}}
		if err := list.read(context.Background(), strings.NewReader(string(data))); err != nil {
			if strings.TrimSpace(err.Error()) == "" {
				t.Fatal("the error says nothing")
			}
			return
		}
		text := strings.TrimPrefix(string(data), "\xef\xbb\xbf")
		var whole map[string]json.RawMessage
		if err := json.Unmarshal([]byte(text), &whole); err != nil {
			t.Fatalf("%q was read, and is no JSON: %v", data, err)
		}
		var pods []json.RawMessage
		if err := json.Unmarshal(whole["items"], &pods); err != nil || len(pods) != items {
			t.Fatalf("%q was read as %d pods: %v", data, items, err)
		}
	})
}
