package spotpool

import (
	"regexp"
	"slices"
	"strings"
)

var zoneForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

// innerRegions are endings that some regions' names have beside the name of another
// region: ap-shanghai-fsi lies beside ap-shanghai (API document 213/6091, and the
// SDK's common/regions).
var innerRegions = []string{"adc", "cft", "ec", "fsi", "jxcft", "open", "sycft", "wxzf", "xinan"}

// ZoneOfRegion says whether an availability zone is one of a region, by its name: the
// region's name, a hyphen and more, unless that names another region.
//
// Declarations and observations both ask here. Were a declaration allowed a zone that
// an observation takes for another region's, the pool would never find its instances
// and would launch again and again. Most zones end in a number alone
// (ap-singapore-2), but not all need to, and a name that is refused here can't be
// used at all. Taking a wrong name does no harm: the cloud refuses a launch in a zone
// of another region, and lists an instance in its own region alone.
func ZoneOfRegion(zone, region string) bool {
	rest, ok := strings.CutPrefix(zone, region+"-")
	first, _, longer := strings.Cut(rest, "-")
	return ok && zoneForm.MatchString(rest) && !(longer && slices.Contains(innerRegions, first))
}

// RegionOfZones is the region of all of the zones, by their names: "ap-singapore" of
// "ap-singapore-2". Where several regions fit, it is the one with the longest name;
// where none fits all zones, the longest that fits the first. Empty zones are
// skipped.
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
