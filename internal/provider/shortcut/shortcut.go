// Package shortcut answers plans that change nothing without the framework.
//
// The framework decodes, walks and encodes a resource's values many times over
// to plan it, attribute by attribute, also where nothing changed. In a plan of a
// thousand pools that is most of the time. So a resource notes in its private
// state that nothing is left to do about it, and the server in here keeps a
// fingerprint of the configuration beside it; while both hold, the prior state
// is the plan. Everything else goes to the framework.
package shortcut

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// The keys in a resource's private state.
const (
	// QuietKey holds JSON true where a plan of an unchanged configuration would
	// neither change a value nor warn of anything. The resource sets it.
	QuietKey = "quiet"
	// AppliedKey holds the fingerprint of the configuration that was applied
	// last. A resource that finds its declared values changed sets it to null.
	AppliedKey = "applied"
)

// framework is everything that the framework's server can do: what it has beside
// the plain interface must not get lost.
type framework interface {
	tfprotov6.ProviderServerWithListResource //nolint:staticcheck // deprecated in favour of an interface that isn't there yet
	tfprotov6.ProviderServerWithActions      //nolint:staticcheck // likewise
	tfprotov6.ProviderServerWithStateStores  //nolint:staticcheck // likewise
}

type server struct {
	framework
	typeName string
	version  string
}

// New puts the shortcut for one resource type before the framework's server. The
// version is the provider's: another one may have other defaults. A server that
// is not the framework's is returned as it is.
func New(inner tfprotov6.ProviderServer, typeName, version string) tfprotov6.ProviderServer {
	f, ok := inner.(framework)
	if !ok {
		return inner
	}
	return &server{framework: f, typeName: typeName, version: version}
}

// PlanResourceChange answers with the prior state where the configured values
// are those of the state, the configuration is the one that was applied to it,
// so that defaults and computed values are settled, too, and the resource is
// quiet.
func (s *server) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	if req.TypeName == s.typeName && sameValue(req.PriorState, req.ProposedNewState) && s.settled(req) {
		return &tfprotov6.PlanResourceChangeResponse{
			PlannedState: req.PriorState, PlannedPrivate: req.PriorPrivate, PlannedIdentity: req.PriorIdentity,
		}, nil
	}
	return s.framework.PlanResourceChange(ctx, req)
}

// ApplyResourceChange notes which configuration was applied. After an error
// nobody knows what holds.
func (s *server) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.framework.ApplyResourceChange(ctx, req)
	if err != nil || req.TypeName != s.typeName || len(resp.Private) == 0 {
		return resp, err
	}
	applied := []byte("null")
	if !failed(resp.Diagnostics) && req.Config != nil {
		applied = s.fingerprint(req.Config)
	}
	resp.Private = with(resp.Private, AppliedKey, applied)
	return resp, nil
}

func (s *server) settled(req *tfprotov6.PlanResourceChangeRequest) bool {
	private := map[string][]byte{}
	if req.Config == nil || json.Unmarshal(req.PriorPrivate, &private) != nil {
		return false
	}
	return string(private[QuietKey]) == "true" && bytes.Equal(private[AppliedKey], s.fingerprint(req.Config))
}

// fingerprint is a JSON string, as private state must be JSON.
func (s *server) fingerprint(config *tfprotov6.DynamicValue) []byte {
	sum := sha256.New()
	sum.Write([]byte(s.version + "\n"))
	sum.Write(config.MsgPack)
	sum.Write(config.JSON)
	return []byte(`"` + hex.EncodeToString(sum.Sum(nil)[:16]) + `"`)
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

// with sets a key of private state, which the framework keeps as a JSON object
// of byte strings. Private state of any other form is left alone.
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
