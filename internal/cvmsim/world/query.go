package world

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter is a valid filter: one of the values must match.
type Filter struct {
	Name   string
	Values []string
}

// Has reports whether the filter has a value.
func (f Filter) Has(value string) bool { return slices.Contains(f.Values, value) }

// TagPrefix is the prefix of filters by a tag's key.
const TagPrefix = "tag:"

var instanceFields = map[string]func(*Instance) string{
	"zone":                 func(in *Instance) string { return in.Zone },
	"project-id":           func(in *Instance) string { return strconv.FormatInt(in.ProjectID, 10) },
	"host-id":              func(*Instance) string { return "" },
	"dedicated-cluster-id": func(*Instance) string { return "" },
	"vpc-id":               func(in *Instance) string { return in.VPCID },
	"subnet-id":            func(in *Instance) string { return in.SubnetID },
	"instance-id":          func(in *Instance) string { return in.ID },
	"uuid":                 func(in *Instance) string { return in.UUID },
	"instance-name":        func(in *Instance) string { return in.Name },
	"instance-charge-type": func(in *Instance) string { return in.ChargeType },
	"instance-state":       func(in *Instance) string { return in.State },
	"private-ip-address":   func(in *Instance) string { return in.PrivateIP },
	"public-ip-address":    func(in *Instance) string { return in.PublicIP },
	"ipv6-address":         func(*Instance) string { return "" },
}

// KnownFilter reports whether instances can be filtered by a name.
func KnownFilter(name string) bool {
	_, field := instanceFields[name]
	return field || strings.HasPrefix(name, TagPrefix) && len(name) > len(TagPrefix) ||
		slices.Contains([]string{"security-group-id", "tag-key", "tag-value", "creation-start-time", "creation-end-time"}, name)
}

// FilterTime is the layout of the creation-time filters. Their zone is not documented; here it is
// UTC, like CreatedTime.
const FilterTime = time.DateTime

// Matches applies one filter to an instance.
func (f Filter) Matches(in *Instance) bool {
	if field, ok := instanceFields[f.Name]; ok {
		return f.Has(field(in))
	}
	if key, isTag := strings.CutPrefix(f.Name, TagPrefix); isTag {
		value, ok := in.tag(key)
		return ok && f.Has(value)
	}
	switch f.Name {
	case "security-group-id":
		return slices.ContainsFunc(in.SecurityGroupIDs, f.Has)
	case "tag-key":
		return slices.ContainsFunc(in.Tags, func(t Tag) bool { return f.Has(t.Key) })
	case "tag-value":
		return slices.ContainsFunc(in.Tags, func(t Tag) bool { return f.Has(t.Value) })
	}
	return slices.ContainsFunc(f.Values, func(v string) bool {
		at, _ := time.Parse(FilterTime, v) // checked before
		if f.Name == "creation-start-time" {
			return !in.CreatedAt.Before(at)
		}
		return !in.CreatedAt.After(at)
	})
}

// search starts from the shortest indexed list of the filters, and applies the rest to it.
func (x *index) search(region string, filters []Filter) []*Instance {
	candidates, used := x.inRegion(region), -1
	for i, f := range filters {
		if list, indexed := x.indexed(region, f); indexed && (used < 0 || len(list) < len(candidates)) {
			candidates, used = list, i
		}
	}
	if len(filters) == 0 || used == 0 && len(filters) == 1 {
		return candidates
	}
	var found []*Instance
	for _, in := range candidates {
		passed := true
		for i := 0; i < len(filters) && passed; i++ {
			passed = i == used || filters[i].Matches(in)
		}
		if passed {
			found = append(found, in)
		}
	}
	return found
}

func (x *index) indexed(region string, f Filter) ([]*Instance, bool) {
	var lists [][]*Instance
	key, isTag := strings.CutPrefix(f.Name, TagPrefix)
	for _, v := range f.Values {
		switch {
		case v == "":
		case isTag:
			lists = append(lists, x.tagged(region, key, v))
		case f.Name == "tag-key":
			lists = append(lists, x.tagged(region, v, ""))
		default:
			return nil, false
		}
	}
	if len(lists) == 1 {
		return lists[0], true
	}
	var union []*Instance
	for _, list := range lists {
		union = append(union, list...)
	}
	slices.SortFunc(union, byOrdinal)
	return slices.Compact(union), true
}
