package spotpool

import (
	"regexp"
	"slices"
	"strings"
)

var zoneForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// innerRegions are suffixes of region names that contain another region's name, such as
// ap-shanghai-fsi (API document 213/6091, and the SDK's common/regions).
var innerRegions = []string{"adc", "cft", "ec", "fsi", "jxcft", "open", "sycft", "wxzf", "xinan"}

// ZoneOfRegion reports whether an availability zone is in a region, by its name: the
// region's name, a hyphen and more, unless that names another region.
//
// Declarations and observations must agree. If a declaration could have a zone that
// observations assign to another region, the pool would never find its instances, and would
// launch forever. Most zones end in a number (ap-singapore-2), but not all need to, so the
// check is loose. A wrong name does no harm: Tencent Cloud refuses the launch.
func ZoneOfRegion(zone, region string) bool {
	rest, ok := strings.CutPrefix(zone, region+"-")
	first, _, longer := strings.Cut(rest, "-")
	return ok && zoneForm.MatchString(rest) && !(longer && slices.Contains(innerRegions, first))
}

// RegionOfZones returns the region of all of the zones, by their names: "ap-singapore" of
// "ap-singapore-2". If several fit, it is the longest. If none fits all zones, it is the
// longest that fits the first. Empty zones are skipped.
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
