package problem

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"

	"github.com/gpupool/terraform-provider-gpupool/internal/printable"
)

// framework is everything that the framework's server implements. A server around it
// must implement all of it, too.
type framework interface {
	tfprotov6.ProviderServerWithListResource //nolint:staticcheck // deprecated in favor of an interface that isn't there yet
	tfprotov6.ProviderServerWithActions      //nolint:staticcheck // likewise
	tfprotov6.ProviderServerWithStateStores  //nolint:staticcheck // likewise
}

// shown is a server that adapts diagnostics for display.
type shown struct{ framework }

// Shown makes diagnostics fit to be shown.
//
// Terraform finds the line of an attribute, and of an element of it. For anything
// deeper it shows where the resource begins (tfdiags/contextual.go). So a deeper
// diagnostic is moved up to what Terraform finds, and its text names the whole path.
// Terraform also prints texts as they are, so characters that would steer a terminal
// are written out: names come out of states and records.
//
// A server that is not the framework's is returned as it is.
func Shown(inner tfprotov6.ProviderServer) tfprotov6.ProviderServer {
	f, ok := inner.(framework)
	if !ok {
		return inner
	}
	return &shown{f}
}

func present(diags []*tfprotov6.Diagnostic) {
	for _, d := range diags {
		if d == nil {
			continue
		}
		lift(d)
		d.Summary, d.Detail = printable.Line(d.Summary), printable.Text(d.Detail)
	}
}

// lift moves a diagnostic up to a place that Terraform finds.
func lift(d *tfprotov6.Diagnostic) {
	steps := d.Attribute.Steps()
	found := 1
	if len(steps) > 1 {
		if _, named := steps[1].(tftypes.AttributeName); !named {
			found = 2
		}
	}
	if len(steps) <= found {
		return
	}
	if whole := attributeOf(steps); !strings.Contains(d.Summary, whole) {
		d.Summary = whole + ": " + d.Summary
	}
	d.Attribute = tftypes.NewAttributePathWithSteps(steps[:found])
}

func (s *shown) ValidateProviderConfig(ctx context.Context, req *tfprotov6.ValidateProviderConfigRequest) (*tfprotov6.ValidateProviderConfigResponse, error) {
	resp, err := s.framework.ValidateProviderConfig(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ConfigureProvider(ctx context.Context, req *tfprotov6.ConfigureProviderRequest) (*tfprotov6.ConfigureProviderResponse, error) {
	resp, err := s.framework.ConfigureProvider(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ValidateResourceConfig(ctx context.Context, req *tfprotov6.ValidateResourceConfigRequest) (*tfprotov6.ValidateResourceConfigResponse, error) {
	resp, err := s.framework.ValidateResourceConfig(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ValidateDataResourceConfig(ctx context.Context,
	req *tfprotov6.ValidateDataResourceConfigRequest) (*tfprotov6.ValidateDataResourceConfigResponse, error) {
	resp, err := s.framework.ValidateDataResourceConfig(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	resp, err := s.framework.PlanResourceChange(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	resp, err := s.framework.ApplyResourceChange(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	resp, err := s.framework.ReadResource(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	resp, err := s.framework.ReadDataSource(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) ImportResourceState(ctx context.Context, req *tfprotov6.ImportResourceStateRequest) (*tfprotov6.ImportResourceStateResponse, error) {
	resp, err := s.framework.ImportResourceState(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}

func (s *shown) UpgradeResourceState(ctx context.Context, req *tfprotov6.UpgradeResourceStateRequest) (*tfprotov6.UpgradeResourceStateResponse, error) {
	resp, err := s.framework.UpgradeResourceState(ctx, req)
	if resp != nil {
		present(resp.Diagnostics)
	}
	return resp, err
}
