package budget

import (
	"bytes"
	"encoding/json"
	"log/slog"
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// TestDecisionsSayTheSameEverywhere: to people, in JSON and in logs.
func TestDecisionsSayTheSameEverywhere(t *testing.T) {
	t.Parallel()
	owner := &Workload{Namespace: "ml", Owner: ledger.Owner{APIVersion: "apps/v1", Kind: "Deployment", Name: "train"}}
	victim := Pod{Pod: gpu.Pod{UID: "uid-trainer-0", Namespace: "ml", Name: "trainer-0"}}
	text := reason.AlertOnly().String()
	because := `[{"code":"alert_only","text":"` + text + `"}]}`
	tests := []struct {
		decision     Decision
		people, json string
		log          string
	}{
		{
			Decision{Kind: KindAlert, Thresholds: []int{80}, Namespaces: []string{"ml", "web"}}, "alert that 80% is reached in ml, web: " + text,
			`{"kind":"alert","object":"budget/team-a","thresholds":[80],"namespaces":["ml","web"],"reasons":` + because, "thresholds=[80]",
		},
		{
			Decision{Kind: KindAlert, Thresholds: []int{80}}, "alert that 80% is reached: " + text,
			`{"kind":"alert","object":"budget/team-a","thresholds":[80],"reasons":` + because, "thresholds=[80]",
		},
		{Decision{Kind: KindFreeze}, "block new GPU pods: " + text, `{"kind":"freeze","object":"budget/team-a","reasons":` + because, ""},
		{Decision{Kind: KindUnfreeze}, "lift the freeze: " + text, `{"kind":"unfreeze","object":"budget/team-a","reasons":` + because, ""},
		{
			Decision{Kind: KindPause, Owner: owner}, "pause Deployment ml/train: " + text,
			`{"kind":"suspend","object":"budget/team-a","owner":{"namespace":"ml","api_version":"apps/v1","kind":"Deployment","name":"train"},"reasons":` +
				because, `workload="Deployment ml/train"`,
		},
		{Decision{Kind: KindResume, Owner: owner}, "resume Deployment ml/train: " + text, `"kind":"resume"`, `workload="Deployment ml/train"`},
		{
			Decision{Kind: KindEvict, Pod: &victim}, "evict the pod ml/trainer-0: " + text,
			`{"kind":"evict","object":"budget/team-a","pod":{"uid":"uid-trainer-0","namespace":"ml","name":"trainer-0"},"reasons":` + because,
			"pod=ml/trainer-0",
		},
	}
	for _, test := range tests {
		d := test.decision
		d.Object, d.Reasons = "budget/team-a", reason.Reasons{reason.AlertOnly()}
		if got := d.String(); got != test.people {
			t.Errorf("to people: %s, want %s", got, test.people)
		}
		text, err := json.Marshal(d)
		if err != nil || !strings.Contains(string(text), test.json) {
			t.Errorf("in JSON: %s, %v; want %s", text, err, test.json)
		}
		var log bytes.Buffer
		slog.New(slog.NewTextHandler(&log, nil)).Info("decided", "decision", d)
		if test.log != "" && !strings.Contains(log.String(), "decision."+test.log) {
			t.Errorf("in logs: %s lacks %s", log.String(), test.log)
		}
	}
}
