package shortcut_test

import (
	"context"
	"encoding/json"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/shortcut"
)

type framework interface {
	tfprotov6.ProviderServerWithListResource //nolint:staticcheck // deprecated in favor of an interface that isn't there yet
	tfprotov6.ProviderServerWithActions      //nolint:staticcheck // likewise
	tfprotov6.ProviderServerWithStateStores  //nolint:staticcheck // likewise
}

// inner replaces the framework: it counts plans, and applies as configured.
type inner struct {
	framework
	plans   int
	reads   int
	applied tfprotov6.ApplyResourceChangeResponse
}

func (i *inner) PlanResourceChange(context.Context, *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	i.plans++
	return &tfprotov6.PlanResourceChangeResponse{}, nil
}

func (i *inner) ReadResource(context.Context, *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	i.reads++
	return &tfprotov6.ReadResourceResponse{}, nil
}

func (i *inner) ApplyResourceChange(context.Context, *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp := i.applied
	return &resp, nil
}

const pool = "gpupool_spot_pool"

func value(s string) *tfprotov6.DynamicValue { return &tfprotov6.DynamicValue{MsgPack: []byte(s)} }

var stateType = tftypes.Object{AttributeTypes: map[string]tftypes.Type{"name": tftypes.String, "capacity": tftypes.Number}}

func object(t *testing.T, capacity int) *tfprotov6.DynamicValue {
	t.Helper()
	v, err := tfprotov6.NewDynamicValue(stateType, tftypes.NewValue(stateType, map[string]tftypes.Value{
		"name": tftypes.NewValue(tftypes.String, "train"), "capacity": tftypes.NewValue(tftypes.Number, capacity),
	}))
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

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
	i.applied = tfprotov6.ApplyResourceChangeResponse{Private: private(t, map[string]string{shortcut.IdleKey: "true"}), Diagnostics: diags}
	resp, err := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{TypeName: pool, Config: value(config)})
	if err != nil {
		t.Fatal(err)
	}
	return resp.Private
}

// changed is private state with another value under a key.
func changed(t *testing.T, data []byte, key, v string) []byte {
	t.Helper()
	all := map[string][]byte{}
	if err := json.Unmarshal(data, &all); err != nil {
		t.Fatal(err)
	}
	all[key] = []byte(v)
	data, err := json.Marshal(all)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestNoFingerprintOfAWriteOnlyValue: one that can be guessed could be found by it.
func TestNoFingerprintOfAWriteOnlyValue(t *testing.T) {
	t.Parallel()
	for config, kept := range map[string]bool{"\xa6secret\xc0": true, "\xa6secret\xa1x": false} {
		i := &inner{}
		private := apply(t, shortcut.New(i, "1.0.0", shortcut.Resource{TypeName: pool, WriteOnly: "secret"}), i, config)
		var keys map[string][]byte
		if err := json.Unmarshal(private, &keys); err != nil || (string(keys[shortcut.AppliedKey]) != "null") != kept {
			t.Errorf("of %q it keeps %s, %v", config, keys[shortcut.AppliedKey], err)
		}
	}
}

func TestShortcutIsOnlyForSettledResources(t *testing.T) {
	t.Parallel()
	i := &inner{}
	s := shortcut.New(i, "1.0.0", shortcut.Resource{TypeName: pool})
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
		"something to do": {plan(func(r *tfprotov6.PlanResourceChangeRequest) {
			r.PriorPrivate = changed(t, settled, shortcut.IdleKey, "false")
		}), false},
		"drifted": {plan(func(r *tfprotov6.PlanResourceChangeRequest) {
			r.PriorPrivate = changed(t, settled, shortcut.AppliedKey, "null")
		}), false},
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
	settled := apply(t, shortcut.New(i, "1.0.0", shortcut.Resource{TypeName: pool}), i, "config")
	if _, err := shortcut.New(i, "1.0.1", shortcut.Resource{TypeName: pool}).PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName: pool, PriorState: value("state"), ProposedNewState: value("state"), Config: value("config"), PriorPrivate: settled,
	}); err != nil || i.plans != 1 {
		t.Errorf("the framework planned %d times (%v)", i.plans, err)
	}
}

// A refresh without changes only changes private state, and keeps unknown keys in it.
func TestShortcutAnswersARefresh(t *testing.T) {
	t.Parallel()
	i := &inner{}
	right := true
	var values map[string]tftypes.Value
	s := shortcut.New(i, "1.0.0", shortcut.Resource{TypeName: pool, Type: func() tftypes.Type { return stateType },
		Refresh: func(_ context.Context, private map[string][]byte) (shortcut.Refreshed, bool) {
			if string(private["observation"]) != `{"version":1}` {
				t.Errorf("the refresh was given %q", private)
			}
			return shortcut.Refreshed{Keys: map[string][]byte{"observation": []byte(`2`)}, Values: values, Identity: map[string]string{"name": "train"}}, right
		}})
	req := &tfprotov6.ReadResourceRequest{TypeName: pool, CurrentState: value("state"), Private: private(t, map[string]string{shortcut.AppliedKey: `"x"`})}
	resp, err := s.ReadResource(t.Context(), req)
	if err != nil || i.reads != 0 {
		t.Fatalf("the framework read %d times (%v)", i.reads, err)
	}
	kept := map[string][]byte{}
	if err := json.Unmarshal(resp.Private, &kept); err != nil || string(kept["observation"]) != "2" || string(kept[shortcut.AppliedKey]) != `"x"` {
		t.Errorf("private state became %s (%v)", resp.Private, err)
	}
	if resp.NewState != req.CurrentState || resp.NewIdentity == nil {
		t.Error("state or identity is another")
	}
	values = map[string]tftypes.Value{"capacity": tftypes.NewValue(tftypes.Number, 1)}
	req.CurrentState = object(t, 2)
	resp, err = s.ReadResource(t.Context(), req)
	if err != nil || string(resp.NewState.MsgPack) != string(object(t, 1).MsgPack) {
		t.Errorf("the state became %v (%v)", resp.NewState, err)
	}
	right = false
	for n, req := range []*tfprotov6.ReadResourceRequest{req, {TypeName: "gpupool_budget"}, {TypeName: pool, Private: []byte("\x00")}} {
		if _, err := s.ReadResource(t.Context(), req); err != nil || i.reads != n+1 {
			t.Errorf("the framework read %d times, not %d (%v)", i.reads, n+1, err)
		}
	}
}
