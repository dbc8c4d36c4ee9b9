package shortcut

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// inner stands for the framework: it counts plans, and applies as it is told.
type inner struct {
	framework
	plans   int
	applied tfprotov6.ApplyResourceChangeResponse
}

func (i *inner) PlanResourceChange(context.Context, *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	i.plans++
	return &tfprotov6.PlanResourceChangeResponse{}, nil
}

func (i *inner) ApplyResourceChange(context.Context, *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp := i.applied
	return &resp, nil
}

const pool = "gpupool_spot_pool"

func value(s string) *tfprotov6.DynamicValue { return &tfprotov6.DynamicValue{MsgPack: []byte(s)} }

func private(t *testing.T, keys map[string]string) []byte {
	t.Helper()
	all := map[string][]byte{"observation": []byte(`{"version":1}`)}
	for key, v := range keys {
		all[key] = []byte(v)
	}
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// apply is the private state after an apply of the configuration.
func apply(t *testing.T, s tfprotov6.ProviderServer, i *inner, config string, diags ...*tfprotov6.Diagnostic) []byte {
	t.Helper()
	i.applied = tfprotov6.ApplyResourceChangeResponse{Private: private(t, map[string]string{QuietKey: "true"}), Diagnostics: diags}
	resp, err := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{TypeName: pool, Config: value(config)})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Private
}

func changed(t *testing.T, data []byte, key, v string) []byte {
	t.Helper()
	return with(data, key, []byte(v))
}

func TestShortcutIsTakenForWhatIsSettledAlone(t *testing.T) {
	t.Parallel()
	i := &inner{}
	s := New(i, pool, "1.0.0")
	settled := apply(t, s, i, "config")
	plan := func(change func(*tfprotov6.PlanResourceChangeRequest)) *tfprotov6.PlanResourceChangeRequest {
		req := &tfprotov6.PlanResourceChangeRequest{
			TypeName: pool, PriorState: value("state"), ProposedNewState: value("state"), Config: value("config"), PriorPrivate: settled,
		}
		change(req)
		return req
	}
	tests := map[string]struct {
		req   *tfprotov6.PlanResourceChangeRequest
		short bool
	}{
		"settled":             {plan(func(*tfprotov6.PlanResourceChangeRequest) {}), true},
		"another type":        {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.TypeName = "gpupool_budget" }), false},
		"a configured change": {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.ProposedNewState = value("other") }), false},
		"an argument less":    {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.Config = value("confi") }), false},
		"a destruction":       {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.ProposedNewState = value("\xc0") }), false},
		"nothing to nothing": {plan(func(r *tfprotov6.PlanResourceChangeRequest) {
			r.PriorState, r.ProposedNewState = value("\xc0"), value("\xc0")
		}), false},
		"something to do":      {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.PriorPrivate = changed(t, settled, QuietKey, "false") }), false},
		"drifted":              {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.PriorPrivate = changed(t, settled, AppliedKey, "null") }), false},
		"nothing kept":         {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.PriorPrivate = nil }), false},
		"kept by someone else": {plan(func(r *tfprotov6.PlanResourceChangeRequest) { r.PriorPrivate = []byte("\x00") }), false},
		"after a failed apply": {plan(func(r *tfprotov6.PlanResourceChangeRequest) {
			r.PriorPrivate = apply(t, s, i, "config", &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityError})
		}), false},
		"after a warning": {plan(func(r *tfprotov6.PlanResourceChangeRequest) {
			r.PriorPrivate = apply(t, s, i, "config", &tfprotov6.Diagnostic{Severity: tfprotov6.DiagnosticSeverityWarning})
		}), true},
	}
	for name, test := range tests {
		i.plans = 0
		resp, err := s.PlanResourceChange(t.Context(), test.req)
		if err != nil {
			t.Fatal(err)
		}
		if short := i.plans == 0; short != test.short {
			t.Errorf("%s: the shortcut was taken: %v", name, short)
		}
		if test.short && (resp.PlannedState != test.req.PriorState || string(resp.PlannedPrivate) != string(test.req.PriorPrivate)) {
			t.Errorf("%s: the plan is not the prior state", name)
		}
	}
}

// Another version of the provider may have other defaults.
func TestAnotherVersionPlansAnew(t *testing.T) {
	t.Parallel()
	i := &inner{}
	settled := apply(t, New(i, pool, "1.0.0"), i, "config")
	if _, err := New(i, pool, "1.0.1").PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: pool, PriorState: value("state"), ProposedNewState: value("state"), Config: value("config"), PriorPrivate: settled,
	}); err != nil || i.plans != 1 {
		t.Errorf("the framework planned %d times (%v)", i.plans, err)
	}
}
