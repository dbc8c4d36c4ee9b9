package helm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// sample is values of the chart, and the flags with the same meaning.
type sample struct {
	values  values
	flags   []string
	budgets string // the file of the flags
}

func newSample() sample {
	return sample{values{}, []string{"--mode=serve", "--enforcement=alert_only", "--image=ghcr.io/gpupool/gpupool:0.1.0"}, "budgets: {}"}
}

// flag replaces a flag of newSample, or adds one.
func (s *sample) flag(name string, value any) {
	prefix := "--" + name + "="
	s.flags = slices.DeleteFunc(s.flags, func(f string) bool { return strings.HasPrefix(f, prefix) })
	s.flags = append(s.flags, prefix+fmt.Sprint(value))
}

// random returns a sample that gpupool manifests accepts.
func random(t *testing.T, r *rand.Rand) sample {
	t.Helper()
	s := newSample()
	often := func() bool { return r.IntN(3) > 0 }
	pick := func(list ...string) string { return list[r.IntN(len(list))] }
	mode, enforcement := pick("serve", "deployment", "cronjob"), pick("alert_only", "freeze", "pause", "evict")
	s.values["mode"], s.values["enforcement"] = mode, enforcement
	s.flag("mode", mode)
	s.flag("enforcement", enforcement)
	if often() {
		s.values["freezeSlots"] = 3
		s.flag("freeze-slots", 3)
	}
	if often() {
		s.values["image"] = values{"repository": "registry.example.com/team/gpupool", "tag": "2.0"}
		s.flag("image", "registry.example.com/team/gpupool:2.0")
	}
	if often() {
		s.values["namespace"], s.values["runNamespace"] = "team-store", "team-run"
		s.flag("namespace", "team-store")
		s.flag("run-namespace", "team-run")
	}
	if mode == "cronjob" && often() {
		s.values["schedule"] = "*/2 1-5 * * *"
		s.flag("schedule", "*/2 1-5 * * *")
	}
	if often() {
		s.values["timeoutSeconds"], s.values["credentialsSecret"] = 5400, "own"
		s.flag("timeout", "90m")
		s.flag("credentials-secret", "own")
	}
	if currency := pick("", "CNY", "USD"); currency != "" {
		s.values["currency"] = currency
		s.flag("currency", currency)
	}
	s.server(mode, often, pick)
	s.powers(enforcement, often)
	if often() {
		budgets := values{"team-a": values{"gpuHours": 0.5, "selector": values{"matchLabels": values{"team": "a"}}, "thresholds": []any{int64(90)}}}
		text, err := yaml.Marshal(values{"budgets": budgets})
		if err != nil {
			t.Fatal(err)
		}
		s.values["budgets"], s.budgets = budgets, strings.TrimSuffix(string(text), "\n")
	}
	if often() { // the last, after which there is no flag
		s.values["arguments"] = []any{"--every=20s", `--a="b" {{c}}`}
		s.flags = append(s.flags, "--", "--every=20s", `--a="b" {{c}}`)
	}
	return s
}

func (s *sample) server(mode string, often func() bool, pick func(...string) string) {
	if often() {
		s.values["prometheusRule"] = values{"enabled": true}
		s.flag("prometheus-rule", true)
	}
	if mode != "serve" {
		return
	}
	switch pick("own", "proxy", "") {
	case "own":
		s.values["serve"] = values{"tlsSecret": "own-tls"}
		s.flag("tls-secret", "own-tls")
	case "proxy":
		s.values["serve"] = values{"behindProxy": true}
		s.flag("behind-proxy", true)
	}
	if often() {
		s.values["serviceMonitor"] = values{"enabled": true}
		s.flag("service-monitor", true)
	}
}

func (s *sample) powers(enforcement string, often func() bool) {
	nodes := values{}
	if often() {
		nodes["mark"] = true
		s.flag("mark-nodes", true)
		if often() && enforcement == "evict" {
			nodes["cordon"] = true
			s.flag("cordon-nodes", true)
		}
		if often() {
			nodes["delete"] = true
			s.flag("delete-nodes", true)
		}
	}
	s.values["nodes"] = nodes
	if often() {
		watch := values{"enabled": true}
		s.flag("notice-watch", true)
		if often() {
			watch["nodeSelector"] = values{"pool": "train"}
			s.flag("notice-watch-on", "pool=train")
		}
		s.values["noticeWatch"] = watch
	}
	if often() {
		stock := values{"enabled": true}
		s.flag("stock-pools", true)
		if often() {
			stock["namespaces"] = []any{"team-b", "team-a", "team-b"}
			s.flag("stock-namespaces", "team-b,team-a,team-b")
		}
		s.values["stockPools"] = stock
	}
	if often() {
		groups := []any{"system:bootstrappers:kubeadm:default-node-token"}
		names := "system:bootstrappers:kubeadm:default-node-token"
		if often() {
			groups = append(groups, "system:bootstrappers:gpu")
			names += ",system:bootstrappers:gpu"
		}
		s.values["bootstrapGroups"] = groups
		s.flag("bootstrap-groups", names)
	}
}
