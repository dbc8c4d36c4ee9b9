package cli

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
)

func TestUsageForPeople(t *testing.T) {
	t.Parallel()
	ptr := func(s string) *string { return &s }
	yes, no, end := true, false, at.Add(-time.Hour)
	pods := []usagePod{
		{UID: "u1", Namespace: "ml", Name: "train", GPUs: "2", Start: at.Add(-2 * time.Hour), GPUHours: "4.000"},
		{UID: "u2", Namespace: "ml-batch", Name: "slices", GPUs: "1/7", Start: at.Add(-8 * time.Hour), End: &end, EndSource: ptr("container_finished"), GPUHours: "1.000"},
	}
	within := usageReport{ConsumedGPUHours: "5.000", ConsumedMilliGPUSeconds: 5 * budget.Hour, RemainingGPUHours: ptr("5.000"), Exceeded: &no, TrackedPods: 2, Pods: pods}
	beyond := within
	since := at.Add(-30 * time.Minute)
	beyond.Exceeded, beyond.ExceededSince, beyond.RemainingGPUHours = &yes, &since, ptr("0.000")
	for name, tt := range map[string]struct {
		look   style
		report usageReport
		limit  int64
	}{
		"usage.txt":                  {plain, within, 10 * budget.Hour},
		"usage_colours.txt":          {coloured, within, 10 * budget.Hour},
		"usage_exceeded_colours.txt": {coloured, beyond, 4 * budget.Hour},
		"usage_nothing.txt":          {plain, usageReport{ConsumedGPUHours: "0.000"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			golden(t, name, usageText(tt.look, tt.report, usageQuestion{at: at, window: "7d", limit: tt.limit}))
		})
	}
}

func TestUsageStopsWhenInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(context.Background())
	list := kubeList{kind: "Pod", plural: "pods", item: func(json.RawMessage) (string, error) {
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
		list := kubeList{kind: "Pod", plural: "pods", item: func(raw json.RawMessage) (string, error) {
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
