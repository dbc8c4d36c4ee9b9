package notification_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/providertest"
)

// A validation reports each problem once, at its attribute, and quotes no write-only value.
func TestBadDeclarations(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t), nil)
	for name, test := range map[string]struct {
		change providertest.Values
		want   []string
	}{
		"an invalid name":           {providertest.Values{"name": "On Call"}, []string{`"name"`, `"On Call" is not a valid name of a notification`}},
		"an unknown type":           {providertest.Values{"type": "irc"}, []string{`"type"`, `"irc" is not known`, `"slack"`}},
		"no address":                {providertest.Values{"url_wo": nil, "url_wo_version": nil}, []string{`"url_wo"`, "Slack needs an address"}},
		"an address in clear text":  {providertest.Values{"url_wo": "http://hooks.example/hunter1"}, []string{`"url_wo"`, "without encryption"}},
		"an address of no kind":     {providertest.Values{"url_wo": "hunter1"}, []string{`"url_wo"`, "It is not a web address"}},
		"an address with a newline": {providertest.Values{"url_wo": "https://hooks.example/hunter1\n"}, []string{`"url_wo"`, "It is not a web address"}},
		"an empty address":          {providertest.Values{"url_wo": ""}, []string{`"url_wo"`, "It is empty"}},
		"an address, no version":    {providertest.Values{"url_wo_version": nil}, []string{`"url_wo_version"`, "Missing version"}},
		"a version, no address":     {providertest.Values{"url_wo": nil}, []string{`"url_wo_version"`, "Version without a value"}},
		"version zero":              {providertest.Values{"url_wo_version": 0}, []string{`"url_wo_version"`, "0 is not a version"}},
		"a negative version":        {providertest.Values{"url_wo_version": -1}, []string{`"url_wo_version"`, "-1 is not a version"}},
		"a secret of Slack":         {providertest.Values{"secret_wo": "hunter1", "secret_wo_version": 1}, []string{`"secret_wo"`, "Slack has no secret"}},
		"an empty secret":           {providertest.Values{"type": "feishu", "secret_wo": "", "secret_wo_version": 1}, []string{`"secret_wo"`, "It is empty"}},
		"no integration key":        {providertest.Values{"type": "pagerduty"}, []string{`"secret_wo"`, "Pagerduty needs a secret"}},
		"an unknown event":          {providertest.Values{"events": []string{"exceeded", "party"}}, []string{"ElementKeyInt(1)", `"party" is not a kind of event`}},
		"a null event":              {providertest.Values{"events": []any{nil}}, []string{"ElementKeyInt(0)", "is null"}},
		"an unknown object":         {providertest.Values{"objects": []string{"team-a"}}, []string{"ElementKeyInt(0)", `"team-a" is not an object`}},
		"half a percent":            {providertest.Values{"thresholds": []float64{80, 50.5}}, []string{"ElementKeyInt(1)", "50.5 is not a whole percent"}},
		"a threshold of nothing":    {providertest.Values{"thresholds": []int{0}}, []string{"ElementKeyInt(0)", "out of range"}},
		"a digest of words":         {providertest.Values{"digest": "daily"}, []string{`"digest"`, `nvalid duration "daily"`}},
		"a short digest":            {providertest.Values{"digest": "1s"}, []string{`"digest"`, "out of range"}},
		"a digest of alerts":        {providertest.Values{"type": "alertmanager", "digest": "1h"}, []string{`"digest"`, "Alertmanager receives alerts one by one"}},
		"no time of day": {
			providertest.Values{"quiet_hours": providertest.Values{"start": "10pm", "end": "07:00"}}, []string{`"start"`, `"10pm" is not a time of day`},
		},
		"no length":       {providertest.Values{"quiet_hours": providertest.Values{"start": "07:00", "end": "07:00"}}, []string{`"end"`, "have no length"}},
		"an unknown zone": {providertest.Values{"time_zone": "Mars/Olympus"}, []string{`"time_zone"`, "Mars/Olympus"}},
		"an invalid page": {providertest.Values{"page_url": "gpupool"}, []string{`"page_url"`, "is not a web address"}},
		"an invalid time": {providertest.Values{"timeouts": providertest.Values{"create": "soon"}}, []string{"timeouts", `nvalid duration "soon"`}},
	} {
		diags := s.Validate(values(test.change))
		contains(t, diags, append(test.want, "ERROR")...)
		if len(diags) != 1 || strings.Contains(diags.String(), "hunter1") {
			t.Errorf("%s: %d diagnostics:\n%s", name, len(diags), diags)
		}
	}
}

var integrationKey = strings.Repeat("k", 32)

func TestGoodDeclarations(t *testing.T) {
	t.Parallel()
	s := serve(t, providertest.New(t), nil)
	for name, change := range map[string]providertest.Values{
		"slack":                       nil,
		"an address of this machine":  {"url_wo": "http://127.0.0.1:8080/hunter1"},
		"alertmanager in the network": {"type": "alertmanager", "url_wo": "http://alertmanager:9093"},
		"pagerduty by default":        {"type": "pagerduty", "url_wo": nil, "url_wo_version": nil, "secret_wo": integrationKey, "secret_wo_version": 1},
		"an address that is unknown":  {"url_wo": providertest.Unknown},
		"both unknown":                {"url_wo": providertest.Unknown, "url_wo_version": providertest.Unknown},
		"an unknown version":          {"url_wo_version": providertest.Unknown},
		"an unknown type":             {"type": providertest.Unknown, "url_wo": "http://10.0.0.1/", "secret_wo": "s", "secret_wo_version": 1, "digest": "1h"},
		"an unknown type and nothing": {"type": providertest.Unknown, "url_wo": nil, "url_wo_version": nil},
		"a secret of Feishu":          {"type": "feishu", "secret_wo": "s", "secret_wo_version": 1},
		"unknown quiet hours":         {"quiet_hours": providertest.Unknown},
		"all kinds of objects":        {"objects": []string{"budget/team-a", "spot_pool/ap-singapore/*", "stock_pool/ml/g1", "run", "*"}},
	} {
		if diags := s.Validate(values(change)); len(diags) > 0 {
			t.Errorf("%s: %s", name, diags)
		}
	}
}
