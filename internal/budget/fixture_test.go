package budget

import (
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
)

// noon is the now of tests that don't need another: a Wednesday.
var noon = time.Date(2026, 7, 15, 12, 0, 0, 0, time.UTC)

func set(namespace string, labels ...string) *ledger.LabelSet {
	of := map[string]string{}
	for n := 0; n < len(labels); n += 2 {
		of[labels[n]] = labels[n+1]
	}
	return &ledger.LabelSet{Namespace: namespace, Labels: ledger.LabelsOf(of)}
}

// teamA is a budget of 100 GPU-hours in 24 hours.
func teamA() Declaration {
	return Declaration{
		Name: "team-a", UID: "uid-a", Generation: 1, ClusterUID: "cluster", GPUHours: "100", Window: "24h",
		Selector: Selector{Namespaces: []string{"ml"}, MatchLabels: map[string]string{"team": "a"}},
	}.WithDefaults()
}
