// Package offers is the command gpupool offers.
package offers

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/connect"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/describe"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

const offersExamples = `  # All GPU types of a region
  gpupool offers --region ap-singapore

  # T4 spot instances that are in stock
  gpupool offers --gpu-type T4 --in-stock

  # Spot offers of a zone, for a script
  gpupool offers --zone ap-singapore-2 -o json |
    jq '.offers[] | select(.charge_type == "SPOTPAID")'`

type options struct {
	session      *process.Session
	cloud        connect.CloudFlags
	gpuType      string
	zone         string
	instanceType string
	inStock      bool
}

// New is the command.
func New(s *process.Session) *cobra.Command {
	o := &options{session: s}
	cmd := &cobra.Command{
		Use:   "offers",
		Short: "Show prices and stock of GPU instance types by zone",
		Long: `Show the prices of GPU instance types in the zones of a region, spot and on-demand,
and their stock. If nothing matches, print what is sold instead, with exit code 1.

Prices are for an hour of CPU, memory and GPU, in the account's currency, without disks
and bandwidth. Stock is what Tencent Cloud reports. It is a hint: only a launch
proves it.`,
		Example: offersExamples,
		Args:    process.NoArguments,
		RunE:    s.Command(o.run),
	}
	o.cloud.RegisterRegion(cmd, "`REGION` of the zones (TENCENTCLOUD_REGION).")
	f := cmd.Flags()
	f.StringVar(&o.gpuType, "gpu-type", "", "Only this `GPU`, such as T4.")
	f.StringVar(&o.zone, "zone", "", "Only this availability `ZONE`.")
	f.StringVar(&o.instanceType, "instance-type", "", "Only this instance `TYPE`, or a family such as GN7.")
	f.BoolVar(&o.inStock, "in-stock", false, "Only types with spot stock.")
	o.cloud.Register(cmd, s)
	s.LogFlags(cmd)
	s.OutputFlag(cmd, process.Wide)
	return cmd
}

// report is the JSON of offers. It contains prices and stock of a region.
type report struct {
	// The version of this format.
	SchemaVersion int `json:"schema_version"`
	// When Tencent Cloud was asked.
	At time.Time `json:"at"`
	// The region.
	Region string `json:"region"`
	// The offers.
	Offers []spotpool.Offer `json:"offers"`
	// The vCPUs left of the account's spot quota, by zone. Null if unknown.
	SpotVCPUs map[string]int `json:"spot_vcpus"`
	// Everything that could not be observed.
	Warnings []string `json:"warnings"`
}

func (o *options) run(ctx context.Context, _ []string) error {
	client, err := o.cloud.Client(ctx)
	if err != nil {
		return err
	}
	if _, err := client.AccountID(ctx); err != nil {
		return err
	}
	region := client.Region()
	markets, err := client.Markets(ctx, region)
	report := report{SchemaVersion: 1, At: o.session.Now().UTC(), Region: region, SpotVCPUs: markets.SpotVCPUs, Warnings: []string{}}
	switch quota := markets.QuotaWarning(region); {
	case err != nil && len(markets.Offers) == 0:
		return err
	case err != nil: // on-demand offers are known
		report.Warnings = append(report.Warnings, err.Error())
	case !quota.IsZero():
		report.Warnings = append(report.Warnings, quota.String())
	}
	o.session.Warn(report.Warnings...)
	report.Offers = o.filter(markets.Offers)
	if len(report.Offers) > 0 {
		return o.session.Print(report, report.text)
	}
	if o.session.JSON() {
		if err := o.session.PutJSON(report, true); err != nil {
			return err
		}
	}
	return o.noMatch(region, markets.Offers)
}

// noMatch is the error that no offer matches. It lists what is sold instead.
func (o *options) noMatch(region string, all []spotpool.Offer) error {
	asking := &options{}
	for _, asked := range []struct {
		flag, value string
		field       *string
		sold        func(spotpool.Offer) string
	}{
		{"zone", o.zone, &asking.zone, func(f spotpool.Offer) string { return f.AvailabilityZone }},
		{"gpu-type", o.gpuType, &asking.gpuType, func(f spotpool.Offer) string { return f.GPUType }},
		{"instance-type", o.instanceType, &asking.instanceType, func(f spotpool.Offer) string { return f.InstanceType }},
	} {
		before, where := asking.filter(all), asking.scope(region)
		if *asked.field = asked.value; len(asking.filter(all)) > 0 || len(before) == 0 {
			continue
		}
		sold := map[string]bool{}
		for _, f := range before {
			sold[asked.sold(f)] = true
		}
		return fmt.Errorf("no offers in %s with --%s %s: use one of %s", where, asked.flag, asked.value, strings.Join(slices.Sorted(maps.Keys(sold)), ", "))
	}
	if len(asking.filter(all)) == 0 {
		return fmt.Errorf("no GPU offers in %s", region)
	}
	return fmt.Errorf("all matching types are sold out in %s: omit --in-stock to list them", asking.scope(region))
}

// scope is the zone or region of the search.
func (o *options) scope(region string) string {
	if o.zone != "" {
		return o.zone
	}
	return region
}

// filter selects matching GPU types, sorted by zone, GPU, size and name.
func (o *options) filter(offers []spotpool.Offer) []spotpool.Offer {
	sold := map[spotpool.Market]bool{}
	for _, f := range offers {
		if f.ChargeType == spotpool.Spot && f.Stock != spotpool.StockNone {
			sold[f.AnyCharge()] = true
		}
	}
	matching := []spotpool.Offer{}
	for _, f := range offers {
		switch {
		case f.GPUs == "" || f.GPUs == "0":
		case o.gpuType != "" && !strings.EqualFold(f.GPUType, o.gpuType):
		case o.zone != "" && f.AvailabilityZone != o.zone:
		case o.instanceType != "" && !matchesType(f.InstanceType, o.instanceType):
		case o.inStock && !sold[f.AnyCharge()]:
		default:
			matching = append(matching, f)
		}
	}
	slices.SortFunc(matching, func(a, b spotpool.Offer) int {
		return cmp.Or(
			cmp.Compare(a.AvailabilityZone, b.AvailabilityZone), cmp.Compare(a.GPUType, b.GPUType),
			cmp.Compare(a.VCPUs, b.VCPUs), cmp.Compare(a.InstanceType, b.InstanceType), -cmp.Compare(a.ChargeType, b.ChargeType),
		)
	})
	return matching
}

func matchesType(instanceType, wanted string) bool {
	family, _, _ := strings.Cut(instanceType, ".")
	return strings.EqualFold(instanceType, wanted) || strings.EqualFold(family, wanted)
}

// text has a line for each zone and type with both charge types, and the quota.
func (r report) text(style terminal.Style) string {
	t := &terminal.Table{}
	t.Add("ZONE", "TYPE", "GPU", "VCPU", "MEMORY", "ON-DEMAND", "SPOT", "STOCK")
	for n := 0; n < len(r.Offers); {
		first := r.Offers[n]
		var spot, demand spotpool.Offer
		for ; n < len(r.Offers) && r.Offers[n].AnyCharge() == first.AnyCharge(); n++ {
			if r.Offers[n].ChargeType == spotpool.Spot {
				spot = r.Offers[n]
			} else {
				demand = r.Offers[n]
			}
		}
		t.Add(first.AvailabilityZone, first.InstanceType, first.GPUs+" "+first.GPUType, fmt.Sprint(first.VCPUs),
			fmt.Sprintf("%d GiB", first.MemoryGB), describe.Price(demand.Price), describe.Price(spot.Price), stockText(style, spot))
	}
	var out bytes.Buffer
	if style.Width > 0 {
		t.Fit(style.Width, "VCPU", "MEMORY", "ON-DEMAND")
	}
	t.Write(&out)
	fmt.Fprintf(&out, "\nON-DEMAND and SPOT are prices in %s an hour; STOCK is spot stock.\n", r.Offers[0].Currency)
	if left := r.quota(); len(left) > 0 {
		for _, line := range terminal.Wrap("Unused spot vCPU quota: "+strings.Join(left, ", "), style.Width, "  ") {
			fmt.Fprintln(&out, line)
		}
	}
	return out.String()
}

// quota is the unused spot vCPU quota of each listed zone.
func (r report) quota() []string {
	var left []string
	for _, f := range r.Offers {
		n, known := r.SpotVCPUs[f.AvailabilityZone]
		text := fmt.Sprintf("%s %d", f.AvailabilityZone, n)
		if known && !slices.Contains(left, text) {
			left = append(left, text)
		}
	}
	return left
}

func stockText(style terminal.Style, f spotpool.Offer) string {
	switch {
	case f.InstanceType == "":
		return style.Paint(terminal.Dim, "not sold")
	case f.Stock == spotpool.StockUnknown:
		return "unknown"
	case f.Stock == spotpool.StockNone:
		return style.Paint(terminal.Red, "sold out")
	case f.Stock == spotpool.StockLow:
		return style.Paint(terminal.Yellow, "low")
	}
	return style.Paint(terminal.Green, string(f.Stock))
}
