package world

import (
	"slices"
	"strconv"
	"strings"
	"time"
)

// Filter is a checked filter: any of the values will do.
type Filter struct {
	Name   string
	Values []string
}

// Has reports whether a value is one of the filter's.
func (f Filter) Has(value string) bool { return slices.Contains(f.Values, value) }

// TagPrefix begins the names of filters by a tag's key.
const TagPrefix = "tag:"

// instanceFields are the filters that compare one field.
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

// FilterTime is the layout of the creation-time filters. Their zone is not
// documented; CreatedTime is in UTC, and so are they here.
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

// cachedQuery is the answer to a query, for as long as nothing changes: the
// pages of one listing ask the same question over and over.
type cachedQuery struct {
	generation uint64
	found      []*Instance
}

const maxQueries = 256

// ListedIn returns the instances of a region that show in listings.
func (w *World) ListedIn(region string) []*Instance { return w.index.inRegion(region) }

// Query returns the instances that pass all filters, in the order of their
// launches.
func (w *World) Query(region string, filters []Filter) []*Instance {
	key := region
	for _, f := range filters {
		key += "\x00" + f.Name + "\x01" + strings.Join(f.Values, "\x02")
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

// search starts from the shortest list that an index has for one of the
// filters, and tries the rest on it.
func (w *World) search(region string, filters []Filter) []*Instance {
	candidates, used := w.index.inRegion(region), -1
	for i, f := range filters {
		if list, indexed := w.indexed(region, f); indexed && (used < 0 || len(list) < len(candidates)) {
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

// indexed answers a tag filter from the index.
func (w *World) indexed(region string, f Filter) ([]*Instance, bool) {
	var lists [][]*Instance
	key, isTag := strings.CutPrefix(f.Name, TagPrefix)
	for _, v := range f.Values {
		switch {
		case v == "":
		case isTag:
			lists = append(lists, w.index.tagged(region, key, v))
		case f.Name == "tag-key":
			lists = append(lists, w.index.tagged(region, v, ""))
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
	slices.SortFunc(union, func(a, b *Instance) int { return byOrdinal(a, b.Ordinal) })
	return slices.Compact(union), true
}
