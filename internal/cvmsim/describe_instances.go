package cvmsim

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

type describeInstancesRequest struct {
	InstanceIDs []string       `json:"InstanceIds,omitempty"`
	Filters     []filterParams `json:"Filters,omitempty"`
	Offset      *int64         `json:"Offset,omitempty"`
	Limit       *int64         `json:"Limit,omitempty"`
}

// About says which instances the call is about.
func (p *describeInstancesRequest) About() subject { return subject{InstanceIDs: p.InstanceIDs} }

type describeInstancesResponse struct {
	TotalCount  int            `json:"TotalCount"`
	InstanceSet []wireInstance `json:"InstanceSet"`
}

// describeInstances lists by ids or by filters; ids that don't exist are
// simply absent (cvm models.go, DescribeInstancesRequest).
func describeInstances(w *world, c *call, p *describeInstancesRequest) (*describeInstancesResponse, *apiError) {
	found, failure := findInstances(w, c.Region, p)
	if failure != nil {
		return nil, failure
	}
	from, to, failure := page(p.Offset, p.Limit, len(found))
	if failure != nil {
		return nil, failure
	}
	set := make([]wireInstance, 0, to-from)
	for _, in := range found[from:to] {
		set = append(set, renderInstance(in))
	}
	return &describeInstancesResponse{TotalCount: len(found), InstanceSet: set}, nil
}

func findInstances(w *world, region string, p *describeInstancesRequest) ([]*instance, *apiError) {
	if len(p.InstanceIDs) > 0 && len(p.Filters) > 0 {
		return nil, fail("InvalidParameter", "`InstanceIds` and `Filters` exclude each other.")
	}
	if len(p.InstanceIDs) > 0 {
		return byIDs(w, region, p.InstanceIDs)
	}
	filters, failure := readFilters(p.Filters, 5, knownInstanceFilter)
	if failure != nil {
		return nil, failure
	}
	for _, f := range filters {
		if failure := checkInstanceFilter(w, region, f); failure != nil {
			return nil, failure
		}
	}
	return w.query(region, filters), nil
}

func byIDs(w *world, region string, ids []string) ([]*instance, *apiError) {
	if failure := checkInstanceIDs(ids); failure != nil {
		return nil, failure
	}
	var found []*instance
	for _, id := range ids {
		if in := w.visible(id); in != nil && in.Region == region && !slices.Contains(found, in) {
			found = append(found, in)
		}
	}
	return found, nil
}

// instanceFields are the filters that compare one field.
var instanceFields = map[string]func(*instance) string{
	"zone":                 func(in *instance) string { return in.Zone },
	"project-id":           func(in *instance) string { return strconv.FormatInt(in.ProjectID, 10) },
	"host-id":              func(*instance) string { return "" },
	"dedicated-cluster-id": func(*instance) string { return "" },
	"vpc-id":               func(in *instance) string { return in.VPCID },
	"subnet-id":            func(in *instance) string { return in.SubnetID },
	"instance-id":          func(in *instance) string { return in.ID },
	"uuid":                 func(in *instance) string { return in.UUID },
	"instance-name":        func(in *instance) string { return in.Name },
	"instance-charge-type": func(in *instance) string { return in.ChargeType },
	"instance-state":       func(in *instance) string { return in.State },
	"private-ip-address":   func(in *instance) string { return in.PrivateIP },
	"public-ip-address":    func(in *instance) string { return in.PublicIP },
	"ipv6-address":         func(*instance) string { return "" },
}

const tagPrefix = "tag:"

func knownInstanceFilter(name string) bool {
	_, field := instanceFields[name]
	return field || strings.HasPrefix(name, tagPrefix) && len(name) > len(tagPrefix) ||
		slices.Contains([]string{"security-group-id", "tag-key", "tag-value", "creation-start-time", "creation-end-time"}, name)
}

// filterTime is the layout of the creation-time filters. Their zone is not
// documented; CreatedTime is in UTC, and so are they here.
const filterTime = time.DateTime

// checkInstanceFilter refuses values that can't be.
func checkInstanceFilter(w *world, region string, f filter) *apiError {
	for _, v := range f.values {
		var failure *apiError
		switch f.name {
		case "zone":
			if zoneRegion[v] != regions[region] {
				failure = fail("InvalidZone.MismatchRegion", "The zone `%s` does not belong to the region `%s`.", printable(v), region)
			}
		case "instance-id":
			failure = checkID(instanceID, "InvalidInstanceId.Malformed", v)
		case "vpc-id":
			failure = checkID(vpcID, "InvalidParameterValue.VpcIdMalformed", v)
		case "subnet-id":
			failure = checkID(subnetID, "InvalidParameterValue.SubnetIdMalformed", v)
		case "security-group-id":
			failure = checkID(securityGroupID, "InvalidSgId.Malformed", v)
		case "creation-start-time", "creation-end-time":
			if _, err := time.Parse(filterTime, v); err != nil {
				failure = fail("InvalidParameterValue.InvalidTimeFormat", "`%s` must look like 2023-06-01 00:00:00.", f.name)
			}
		}
		if failure != nil {
			return failure
		}
	}
	if key, isTag := strings.CutPrefix(f.name, tagPrefix); isTag && w.settings.TagKeyNotFound && !w.hasTagKey(key) {
		return fail("InvalidParameterValue.TagKeyNotFound", "The tag key `%s` does not exist.", printable(key))
	}
	return nil
}

// matches applies one filter to an instance.
func (f filter) matches(in *instance) bool {
	if field, ok := instanceFields[f.name]; ok {
		return f.has(field(in))
	}
	if key, isTag := strings.CutPrefix(f.name, tagPrefix); isTag {
		value, ok := in.tag(key)
		return ok && f.has(value)
	}
	switch f.name {
	case "security-group-id":
		return slices.ContainsFunc(in.SecurityGroupIDs, f.has)
	case "tag-key":
		return slices.ContainsFunc(in.Tags, func(t Tag) bool { return f.has(t.Key) })
	case "tag-value":
		return slices.ContainsFunc(in.Tags, func(t Tag) bool { return f.has(t.Value) })
	}
	return slices.ContainsFunc(f.values, func(v string) bool {
		at, _ := time.Parse(filterTime, v) // checked before
		if f.name == "creation-start-time" {
			return !in.CreatedAt.Before(at)
		}
		return !in.CreatedAt.After(at)
	})
}

// cachedQuery is the answer to a query, for as long as nothing changes: the
// pages of one listing ask the same question over and over.
type cachedQuery struct {
	generation uint64
	found      []*instance
}

const maxQueries = 256

// query returns the instances that pass all filters, in the order of their
// launches.
func (w *world) query(region string, filters []filter) []*instance {
	key := region
	for _, f := range filters {
		key += "\x00" + f.name + "\x01" + strings.Join(f.values, "\x02")
	}
	if cached, ok := w.queries[key]; ok && cached.generation == w.generation {
		return cached.found
	}
	found := w.search(region, filters)
	if len(w.queries) >= maxQueries {
		clear(w.queries)
	}
	w.queries[key] = cachedQuery{generation: w.generation, found: found}
	return found
}

// listedIn returns the instances of a region that show in listings.
func (w *world) listedIn(region string) []*instance { return w.index.inRegion(region) }

// search starts from the shortest list that an index has for one of the
// filters, and tries the rest on it.
func (w *world) search(region string, filters []filter) []*instance {
	candidates, used := w.index.inRegion(region), -1
	for i, f := range filters {
		if list, indexed := w.indexed(region, f); indexed && (used < 0 || len(list) < len(candidates)) {
			candidates, used = list, i
		}
	}
	if len(filters) == 0 || used == 0 && len(filters) == 1 {
		return candidates
	}
	var found []*instance
	for _, in := range candidates {
		passed := true
		for i := 0; i < len(filters) && passed; i++ {
			passed = i == used || filters[i].matches(in)
		}
		if passed {
			found = append(found, in)
		}
	}
	return found
}

// indexed answers a tag filter from the index.
func (w *world) indexed(region string, f filter) ([]*instance, bool) {
	var lists [][]*instance
	key, isTag := strings.CutPrefix(f.name, tagPrefix)
	for _, v := range f.values {
		switch {
		case v == "":
		case isTag:
			lists = append(lists, w.index.tagged(region, key, v))
		case f.name == "tag-key":
			lists = append(lists, w.index.tagged(region, v, ""))
		default:
			return nil, false
		}
	}
	if len(lists) == 1 {
		return lists[0], true
	}
	var union []*instance
	for _, list := range lists {
		union = append(union, list...)
	}
	slices.SortFunc(union, func(a, b *instance) int { return byOrdinal(a, b.Ordinal) })
	return slices.Compact(union), true
}
