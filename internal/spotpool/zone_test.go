package spotpool_test

import (
	"strings"
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

func TestZonesOfRegions(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		zone, region string
		want         bool
	}{
		{"ap-singapore-2", "ap-singapore", true},
		{"ap-singapore-12", "ap-singapore", true},
		{"ap-singapore-ez-1", "ap-singapore", true},
		{"ap-singapore-edge", "ap-singapore", true},
		{"ap-shanghai-fsi-1", "ap-shanghai-fsi", true},
		{"ap-shanghai-fsi-1", "ap-shanghai", false},
		{"ap-shanghai-adc-2", "ap-shanghai", false},
		{"ap-guangzhou-open-1", "ap-guangzhou", false},
		{"ap-shanghai-1", "ap-shanghai-fsi", false},
		{"ap-singapore", "ap-singapore", false},
		{"ap-singapore-", "ap-singapore", false},
		{"ap-singapore-2-", "ap-singapore", false},
		{"ap-singapore--2", "ap-singapore", false},
		{"ap-singapore-A", "ap-singapore", false},
		{"ap-singapore-2\n", "ap-singapore", false},
		{"ap-singapore2-1", "ap-singapore", false},
		{"ap-tokyo-1", "ap-singapore", false},
		{"", "ap-singapore", false},
		{"ap-singapore-2", "", false},
	} {
		if got := spotpool.ZoneOfRegion(c.zone, c.region); got != c.want {
			t.Errorf("%q of %q: %v", c.zone, c.region, got)
		}
	}
}

func TestRegionsOfZones(t *testing.T) {
	t.Parallel()
	for want, zones := range map[string][][]string{
		"ap-singapore": {
			{"ap-singapore-2"}, {"", "ap-singapore-2", "ap-singapore-3"}, {"ap-singapore-ez-1", "ap-singapore-2"}, {"ap-singapore-2", "ap-singapore-ez-1"},
			{"ap-singapore-2", "ap-tokyo-1"},
		},
		"ap-shanghai-fsi": {{"ap-shanghai-fsi-1"}, {"ap-shanghai-fsi-1", "ap-shanghai-1"}},
		"":                {nil, {""}, {"singapore"}},
	} {
		for _, list := range zones {
			if got := spotpool.RegionOfZones(list); got != want {
				t.Errorf("%q are of %q, want %q", list, got, want)
			}
		}
	}
}

// TestAMisspelledRegionIsNotAdvisedUpon: the zones show which one was probably meant.
func TestAMisspelledRegionIsNotAdvisedUpon(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{"ap-singapur": `Did you mean the region "ap-singapore"?`, "eu-frankfurt": `such as "eu-frankfurt-2"`} {
		problems := pool(func(d *spotpool.Declaration) { d.Region = region }).Validate()
		if len(problems) == 0 || !strings.Contains(problems[0].String(), want) {
			t.Errorf("a region %q with zones of ap-singapore: %+v", region, problems)
		}
	}
}
