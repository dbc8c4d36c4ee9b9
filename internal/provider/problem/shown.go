package problem

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
)

// framework is everything that the framework's server can do: what it has beside
// the plain interface must not get lost.
type framework interface {
	tfprotov6.ProviderServerWithListResource //nolint:staticcheck // deprecated in favour of an interface that isn't there yet
	tfprotov6.ProviderServerWithActions      //nolint:staticcheck // likewise
	tfprotov6.ProviderServerWithStateStores  //nolint:staticcheck // likewise
}

// shown is a server whose diagnostics lie where Terraform finds their lines.
type shown struct{ framework }

// Shown has Terraform show each diagnostic at the line of its attribute.
// Terraform finds the line of an attribute and of an element of it; for whatever
// lies deeper it shows where the resource begins (tfdiags/contextual.go). So what
// lies deeper is moved up to there, and its text names the whole path. A server
// that is not the framework's is returned as it is.
func Shown(inner tfprotov6.ProviderServer) tfprotov6.ProviderServer {
	f, ok := inner.(framework)
	if !ok {
		return inner
	}
	return &shown{f}
}

// findable moves diagnostics up to what Terraform finds.
func findable(diags []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		if d == nil || d.Attribute == nil {
			continue
		}
		steps := d.Attribute.Steps()
		least := 1
		if len(steps) > 1 {
			if _, named := steps[1].(tftypes.AttributeName); !named {
				least = 2
			}
		}
		if len(steps) <= least {
			continue
		}
		if whole := attributeOf(steps); !strings.Contains(d.Summary, whole) {
			d.Summary = whole + ": " + d.Summary
		}
		d.Attribute = tftypes.NewAttributePathWithSteps(steps[:least])
	}
}

// ValidateProviderConfig is the framework's.
func (s *shown) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	resp, err := s.framework.ValidateProviderConfig(ctx, req)
	if resp != nil {
		findable(resp.Diagnostics)
	}
	return resp, err
}

// ConfigureProvider is the framework's.
func (s *shown) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	resp, err := s.framework.ConfigureProvider(ctx, req)
	if resp != nil {
		findable(resp.Diagnostics)
	}
	return resp, err
}

// ValidateResourceConfig is the framework's.
func (s *shown) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	resp, err := s.framework.ValidateResourceConfig(ctx, req)
	if resp != nil {
		findable(resp.Diagnostics)
	}
	return resp, err
}

// ValidateDataResourceConfig is the framework's.
func (s *shown) ValidateDataResourceConfig(ctx context.Context, req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	resp, err := s.framework.ValidateDataResourceConfig(ctx, req)
	if resp != nil {
		findable(resp.Diagnostics)
	}
	return resp, err
}

// PlanResourceChange is the framework's.
func (s *shown) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.framework.PlanResourceChange(ctx, req)
	if resp != nil {
		findable(resp.Diagnostics)
	}
	return resp, err
}

// ApplyResourceChange is the framework's.
func (s *shown) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.framework.ApplyResourceChange(ctx, req)
	if resp != nil {
		findable(resp.Diagnostics)
	}
	return resp, err
}
