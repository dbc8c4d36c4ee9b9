package spotpool

import (
	"regexp"
	"slices"
	"strings"
)

var zoneForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// innerRegions are what the names of regions have after that of a city whose
// own region has the plain name: ap-shanghai-fsi lies beside ap-shanghai (API
// document 213/6091, and the SDK's common/regions).
var innerRegions = []string{"adc", "cft", "ec", "fsi", "jxcft", "open", "sycft", "wxzf", "xinan"}

// ZoneOfRegion says whether an availability zone is one of a region, by its
// name: the region's, a hyphen and more, and no other region's in between.
//
// What a declaration may name and what an instance is believed to be in must be
// the same: a pool whose instances are held for nobody's launches again and
// again. So both ask here. Most zones end in a number alone (ap-singapore-2),
// but not all need to, and a name that is refused here can't be used at all. A
// name that is taken wrongly does no harm: the cloud refuses a launch in a zone
// of another region, and lists an instance in its own region alone.
func ZoneOfRegion(zone, region string) bool {
	rest, ok := strings.CutPrefix(zone, region+"-")
	first, _, longer := strings.Cut(rest, "-")
	return ok && zoneForm.MatchString(rest) && !(longer && slices.Contains(innerRegions, first))
}

// RegionOfZones is the region of all of the zones, by their names: "ap-singapore" of
// "ap-singapore-2". Where several regions fit, it is the one with the longest name;
// where none fits all of them, the longest that fits the first. Empty zones are
// passed over.
func RegionOfZones(zones []string) string {
	zones = slices.DeleteFunc(slices.Clone(zones), func(zone string) bool { return zone == "" })
	if len(zones) == 0 {
		return ""
	}
	nearest := ""
	for end := strings.LastIndexByte(zones[0], '-'); end > 0; end = strings.LastIndexByte(zones[0][:end], '-') {
		region := zones[0][:end]
		if nearest == "" {
			nearest = region
		}
		of := func(zone string) bool { return ZoneOfRegion(zone, region) }
		if strings.Contains(region, "-") && !slices.ContainsFunc(zones, func(zone string) bool { return !of(zone) }) {
			return region
		}
	}
	return nearest
}
