// Package shortcut handles refreshes and plans without changes without the framework.
//
// The framework decodes, walks and encodes a resource's values many times, attribute by
// attribute, even if nothing changed. In a plan of a thousand pools that is most of the time.
//
// So a resource can refresh itself from only its private state and report the few values that
// change. It also records there whether it is idle, and the server here adds a fingerprint of
// the configuration. If both match, the plan is the prior state. Everything else goes to the
// framework.
package shortcut

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"maps"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// The keys in a resource's private state.
const (
	// IdleKey holds JSON true where a plan of an unchanged configuration would
	// neither change a value nor warn of anything. The resource sets it.
	IdleKey = "quiet"
	// AppliedKey holds the fingerprint of the configuration that was applied
	// last. A resource that finds its declared values changed sets it to null.
	AppliedKey = "applied"
)

// framework is everything that the framework's server implements. A server around it
// must implement all of it, too.
type framework interface {
	tfprotov6.ProviderServerWithListResource //nolint:staticcheck // deprecated in favor of an interface that isn't there yet
	tfprotov6.ProviderServerWithActions      //nolint:staticcheck // likewise
	tfprotov6.ProviderServerWithStateStores  //nolint:staticcheck // likewise
}

// Resource is a resource type that can take shortcuts.
type Resource struct {
	TypeName string
	// WriteOnly is its argument that no state may tell anything of, not even by a
	// fingerprint; empty if it has none.
	WriteOnly string
	// Provider is what its plans depend on of the provider's configuration; nil for nothing.
	Provider func() string
	// Type is the type of its state.
	Type func() tftypes.Type
	// Refresh refreshes the resource from its private state, and reports whether that
	// was all that a refresh has to do.
	Refresh func(ctx context.Context, private map[string][]byte) (Refreshed, bool)
}

// Refreshed is what a refresh changes.
type Refreshed struct {
	Keys     map[string][]byte        // of the private state
	Values   map[string]tftypes.Value // of the state, by attribute
	Identity map[string]string        // the resource's, all of it
}

type server struct {
	framework
	resource Resource
	version  string
}

// New puts the shortcuts of one resource type before the framework's server. version
// is the provider's, since another version may have other defaults. A server that is
// not the framework's is returned as it is.
func New(inner tfprotov6.ProviderServer, version string, r Resource) tfprotov6.ProviderServer {
	f, ok := inner.(framework)
	if !ok {
		return inner
	}
	return &server{framework: f, resource: r, version: version}
}

// ReadResource answers with the resource's own refresh, where that is enough.
func (s *server) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	if req.TypeName == s.resource.TypeName {
		if resp := s.refresh(ctx, req); resp != nil {
			return resp, nil
		}
	}
	return s.framework.ReadResource(ctx, req)
}

// refresh returns nil where the framework must answer.
func (s *server) refresh(ctx context.Context, req *tfprotov6.ReadResourceRequest) *tfprotov6.ReadResourceResponse {
	private := map[string][]byte{}
	if json.Unmarshal(req.Private, &private) != nil {
		return nil
	}
	found, ok := s.resource.Refresh(ctx, private)
	if !ok {
		return nil
	}
	maps.Copy(private, found.Keys)
	data, err := json.Marshal(private)
	if err != nil {
		return nil
	}
	state, err := s.changed(req.CurrentState, found.Values)
	if err != nil {
		return nil
	}
	identity, err := identityOf(found.Identity)
	if err != nil {
		return nil
	}
	return &tfprotov6.ReadResourceResponse{NewState: state, Private: data, NewIdentity: identity}
}

func (s *server) changed(state *tfprotov6.DynamicValue, values map[string]tftypes.Value) (*tfprotov6.DynamicValue, error) {
	if len(values) == 0 {
		return state, nil
	}
	of := s.resource.Type()
	object, err := state.Unmarshal(of)
	if err != nil {
		return nil, err
	}
	var all map[string]tftypes.Value
	if err := object.As(&all); err != nil {
		return nil, err
	}
	maps.Copy(all, values)
	data, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, all))
	return &data, err
}

func identityOf(attributes map[string]string) (*tfprotov6.ResourceIdentityData, error) {
	of := tftypes.Object{AttributeTypes: map[string]tftypes.Type{}}
	values := map[string]tftypes.Value{}
	for name, value := range attributes {
		of.AttributeTypes[name] = tftypes.String
		values[name] = tftypes.NewValue(tftypes.String, value)
	}
	data, err := tfprotov6.NewDynamicValue(of, tftypes.NewValue(of, values))
	return &tfprotov6.ResourceIdentityData{IdentityData: &data}, err
}

// PlanResourceChange returns the prior state if the resource is idle and the configured values
// are those of the state. The configuration must be the one that was applied last, so that
// defaults and computed values are those of the state, too.
func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if req.TypeName == s.resource.TypeName && sameValue(req.PriorState, req.ProposedNewState) && s.asApplied(req) {
		return &tfprotov6.PlanResourceChangeResponse{
			PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity,
		}, nil
	}
	return s.framework.PlanResourceChange(ctx, req)
}

// ApplyResourceChange notes which configuration was applied; after an error, that is
// unknown.
func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.framework.ApplyResourceChange(ctx, req)
	if err != nil || req.TypeName != s.resource.TypeName || len(resp.Private) == 0 {
		return resp, err
	}
	applied := []byte("null")
	if !failed(resp.Diagnostics) && req.Config != nil && !s.secret(req.Config) {
		applied = s.fingerprint(req.Config)
	}
	resp.Private = with(resp.Private, AppliedKey, applied)
	return resp, nil
}

// asApplied reports whether the configuration is the one that was applied last, and
// there is nothing to do about the resource.
func (s *server) asApplied(req *tfprotov6.PlanResourceChangeRequest) bool {
	private := map[string][]byte{}
	if req.Config == nil || json.Unmarshal(req.PriorPrivate, &private) != nil {
		return false
	}
	return string(private[IdleKey]) == "true" && bytes.Equal(private[AppliedKey], s.fingerprint(req.Config))
}

// fingerprint is a JSON string, as private state must be JSON.
func (s *server) fingerprint(config *tfprotov6.DynamicValue) []byte {
	sum := sha256.New()
	sum.Write([]byte(s.version + "\n"))
	if s.resource.Provider != nil {
		sum.Write([]byte(s.resource.Provider() + "\n"))
	}
	sum.Write(config.MsgPack)
	sum.Write(config.JSON)
	return []byte(`"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`)
}

// secret reports whether a configuration may have a value for the write-only argument: in
// MessagePack, its name is not followed by nil.
func (s *server) secret(config *tfprotov6.DynamicValue) bool {
	name := s.resource.WriteOnly
	return name != "" && !bytes.Contains(config.MsgPack, append(append([]byte{0xa0 | byte(len(name))}, name...), 0xc0)) //nolint:gosec // below 32
}

func sameValue(a, b *tfprotov6.DynamicValue) bool {
	return a != nil && b != nil && len(a.MsgPack) > 0 && bytes.Equal(a.MsgPack, b.MsgPack) && !isNull(a)
}

// isNull reports whether the value is MessagePack's nil: a resource that isn't there.
func isNull(v *tfprotov6.DynamicValue) bool { return len(v.MsgPack) == 1 && v.MsgPack[0] == 0xc0 }

func failed(diags []*tfprotov6.Diagnostic) bool {
	for _, d := range diags {
		if d.Severity == tfprotov6.DiagnosticSeverityError {
			return true
		}
	}
	return false
}

// with sets a key of private state, which the framework writes as a JSON object of byte
// strings. Other forms are returned as they are.
func with(data []byte, key string, value []byte) []byte {
	private := map[string][]byte{}
	if json.Unmarshal(data, &private) != nil {
		return data
	}
	private[key] = value
	changed, err := json.Marshal(private)
	if err != nil {
		return data
	}
	return changed
}
