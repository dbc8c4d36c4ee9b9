package kit

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/datasource"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
)

// DataSource has the name and the connection of a data source, which embeds it.
type DataSource struct {
	Type       string
	Connection *connection.Connection
}

// Metadata names the data source.
func (s *DataSource) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = s.Type
}

// Configure takes the provider's connection.
func (s *DataSource) Configure(_ context.Context, req datasource.ConfigureRequest, resp *datasource.ConfigureResponse) {
	s.Connection = connection.Of(req.ProviderData, &resp.Diagnostics)
}
