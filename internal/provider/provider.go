// Package provider is the Terraform provider gpupool: its configuration, and the list
// of its resources, data sources and functions.
//
// Each object has a package of its own below. They share package connection, which
// reaches one account, one cluster and one store. Nothing in here decides about pools
// or budgets: the core packages of these names do, and package reconcile carries it
// out.
package provider

import (
	"context"
	"os"
	"sync/atomic"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/budget"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/budgetusage"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/functions"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/notification"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/spotoffers"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/spotpooldata"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/stockpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/stockpooldata"
)

var _ provider.ProviderWithFunctions = (*gpupoolProvider)(nil)

type gpupoolProvider struct {
	version      string
	getenv       func(string) string
	pollInterval time.Duration
	connection   atomic.Pointer[connection.Connection] // nil until the provider is configured
}

// Option changes how the provider runs; tests use them.
type Option func(*gpupoolProvider)

// WithEnvironment replaces the process's environment variables.
func WithEnvironment(getenv func(string) string) Option {
	return func(p *gpupoolProvider) { p.getenv = getenv }
}

// WithPollInterval sets the first pause between two observations of settling instances.
func WithPollInterval(d time.Duration) Option {
	return func(p *gpupoolProvider) { p.pollInterval = d }
}

// New returns the provider's factory.
func New(version string, options ...Option) func() provider.Provider {
	return func() provider.Provider { return newProvider(version, options...) }
}

func newProvider(version string, options ...Option) *gpupoolProvider {
	p := &gpupoolProvider{version: version, getenv: os.Getenv}
	for _, o := range options {
		o(p)
	}
	return p
}

func (p *gpupoolProvider) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gpupool"
	resp.Version = p.version
}

func (p *gpupoolProvider) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = providerSchema()
}

// Configure reads the arguments and the environment, and makes no call: the account,
// the cluster and the store are opened when they are first needed.
func (p *gpupoolProvider) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	settings, diags := p.read(ctx, req.Config)
	resp.Diagnostics.Append(diags...)
	if diags.HasError() {
		return
	}
	c := connection.New(settings)
	p.connection.Store(c)
	resp.ResourceData, resp.DataSourceData = c, c
}

func (p *gpupoolProvider) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{spotpool.NewResource, budget.NewResource, stockpool.NewResource, notification.NewResource}
}

func (p *gpupoolProvider) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{spotpooldata.NewDataSource, spotoffers.NewDataSource, budgetusage.NewDataSource, stockpooldata.NewDataSource}
}

func (p *gpupoolProvider) Functions(context.Context) []func() function.Function {
	return []func() function.Function{functions.NewGPUHours, functions.NewGPUCount}
}
