// Package spotoffers is the data source gpupool_spot_offers: what GPU instances cost
// in a region, and whether they are in stock.
package spotoffers

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/connection"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/kit"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/values"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

var _ datasource.DataSourceWithConfigure = (*offersDataSource)(nil)

type offersDataSource struct{ kit.DataSource }

// NewDataSource returns the data source gpupool_spot_offers.
func NewDataSource() datasource.DataSource {
	return &offersDataSource{kit.DataSource{Type: "gpupool_spot_offers"}}
}

func (s *offersDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "GPU spot instances that a region sells now, cheapest first: price, stock and size by availability zone and type. " +
			"Prices and stock change, so write a pool's `offerings` down instead of reading them from here.",
		Attributes: map[string]schema.Attribute{
			"region": schema.StringAttribute{
				Optional: true, Computed: true,
				MarkdownDescription: "Region. If omitted, that of the provider.",
			},
			"gpu_type":          filter("Only this GPU, such as `T4`, `V100`, `A100`, `A10` or `P40`."),
			"instance_type":     filter("Only this instance type, such as `GN7.2XLARGE32`."),
			"availability_zone": filter("Only this availability zone."),
			"offers": schema.ListNestedAttribute{
				Computed:            true,
				MarkdownDescription: "The offers, by price, then zone and type.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"availability_zone": kit.ComputedText("Availability zone."),
					"instance_type":     kit.ComputedText("Instance type."),
					"gpu_type":          kit.ComputedText("GPU of the type; null if unknown."),
					"gpus":              kit.ComputedText("GPUs of one instance, as a decimal: a share of a GPU is below 1."),
					"vcpus":             kit.ComputedWhole("vCPUs of one instance."),
					"memory_gb":         kit.ComputedWhole("Memory of one instance in GB."),
					"price":             kit.ComputedText("Hourly price of one instance, in `currency`, as a decimal; null if unknown."),
					"currency":          kit.ComputedText("Currency of the price."),
					"stock":             kit.ComputedText("Stock: `enough`, `normal`, `low` or `sold_out`; null if unknown."),
				}},
			},
		},
	}
}

func filter(description string) schema.StringAttribute {
	return schema.StringAttribute{Optional: true, MarkdownDescription: description}
}

type model struct {
	Region           types.String `tfsdk:"region"`
	GPUType          types.String `tfsdk:"gpu_type"`
	InstanceType     types.String `tfsdk:"instance_type"`
	AvailabilityZone types.String `tfsdk:"availability_zone"`
	Offers           []offer      `tfsdk:"offers"`
}

type offer struct {
	AvailabilityZone types.String `tfsdk:"availability_zone"`
	InstanceType     types.String `tfsdk:"instance_type"`
	GPUType          types.String `tfsdk:"gpu_type"`
	GPUs             types.String `tfsdk:"gpus"`
	VCPUs            types.Int64  `tfsdk:"vcpus"`
	MemoryGB         types.Int64  `tfsdk:"memory_gb"`
	Price            types.String `tfsdk:"price"`
	Currency         types.String `tfsdk:"currency"`
	Stock            types.String `tfsdk:"stock"`
}

func (s *offersDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m model
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	if resp.Diagnostics.HasError() {
		return
	}
	doing := reason.ReadingOffers()
	reader, err := s.Connection.ReadSpotPools(ctx)
	if err == nil && m.Region.ValueString() == "" {
		var region string
		region, err = s.Connection.Region(ctx)
		m.Region = types.StringValue(region)
	}
	if err != nil {
		resp.Diagnostics.Append(connection.Error(doing, err))
		return
	}
	markets, err := reader.Markets(ctx, m.Region.ValueString())
	if err != nil {
		resp.Diagnostics.Append(connection.Error(doing, err))
		return
	}
	m.Offers = m.choose(markets.Offers)
	resp.Diagnostics.Append(resp.State.Set(ctx, m)...)
}

// choose selects and sorts the offers of spot instances with GPUs.
func (m model) choose(offers []spotpool.Offer) []offer {
	matches := func(wanted types.String, s string) bool {
		return wanted.IsNull() || strings.EqualFold(wanted.ValueString(), s)
	}
	var chosen []spotpool.Offer
	for _, o := range offers {
		if o.ChargeType == spotpool.Spot && (o.GPUs != "" || o.GPUType != "") &&
			matches(m.GPUType, o.GPUType) && matches(m.InstanceType, o.InstanceType) && matches(m.AvailabilityZone, o.AvailabilityZone) {
			chosen = append(chosen, o)
		}
	}
	slices.SortFunc(chosen, func(a, b spotpool.Offer) int {
		return cmp.Or(
			cmp.Compare(unknownLast(a.Price), unknownLast(b.Price)),
			cmp.Compare(a.AvailabilityZone, b.AvailabilityZone),
			cmp.Compare(a.InstanceType, b.InstanceType))
	})
	list := make([]offer, len(chosen))
	for n, o := range chosen {
		list[n] = offer{
			AvailabilityZone: types.StringValue(o.AvailabilityZone), InstanceType: types.StringValue(o.InstanceType),
			GPUType: values.OfText(o.GPUType), GPUs: values.OfText(o.GPUs),
			VCPUs: types.Int64Value(int64(o.VCPUs)), MemoryGB: types.Int64Value(int64(o.MemoryGB)),
			Price: types.StringNull(), Currency: values.OfText(string(o.Currency)), Stock: values.OfText(string(o.Stock)),
		}
		if o.Price > 0 {
			list[n].Price = types.StringValue(o.Price.String())
		}
	}
	return list
}

// unknownLast sorts an unknown price behind all others.
func unknownLast(p spotpool.Price) uint64 { return uint64(p) - 1 }
