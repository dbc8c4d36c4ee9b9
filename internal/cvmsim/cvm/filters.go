package cvm

import (
	"slices"
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type filterParams struct {
	Name   *string  `json:"Name,omitempty"`
	Values []string `json:"Values,omitempty"`
}

const maxFilters = 10

// readFilters checks filters against the names that an action knows, and its
// limit of values. Names may be open-ended: known decides.
func readFilters(params []filterParams, maxValues int, known func(string) bool) ([]world.Filter, *wire.Error) {
	if len(params) > maxFilters {
		return nil, wire.Fail("InvalidFilterValue.LimitExceeded", "There may be at most %d filters, not %d.", maxFilters, len(params))
	}
	filters := make([]world.Filter, 0, len(params))
	for i, p := range params {
		name := wire.Or(p.Name, "")
		if name == "" {
			return nil, wire.Missing("Filters." + strconv.Itoa(i) + ".Name")
		}
		if !known(name) {
			return nil, wire.Fail("InvalidFilter", "There is no filter `%s`.", wire.Printable(name))
		}
		if len(p.Values) == 0 {
			return nil, wire.Missing("Filters." + strconv.Itoa(i) + ".Values")
		}
		if len(p.Values) > maxValues {
			return nil, wire.Fail("InvalidFilterValue.LimitExceeded", "The filter `%s` may have at most %d values, not %d.", wire.Printable(name), maxValues,
				len(p.Values))
		}
		filters = append(filters, world.Filter{Name: name, Values: p.Values})
	}
	return filters, nil
}

func oneOf(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

// valuesOf joins the values of all filters of a name.
func valuesOf(filters []world.Filter, name string) []string {
	var values []string
	for _, f := range filters {
		if f.Name == name {
			values = append(values, f.Values...)
		}
	}
	return values
}

// passes reports whether every filter of the name has the value.
func passes(filters []world.Filter, name, value string) bool {
	for _, f := range filters {
		if f.Name == name && !f.Has(value) {
			return false
		}
	}
	return true
}

const (
	defaultLimit = 20
	maxLimit     = 100
	maxIDs       = 100
)

// page checks Offset and Limit, and returns the bounds of a page over n items.
func page(offset, limit *int64, n int) (from, to int, failure *wire.Error) {
	size, start := wire.Or(limit, defaultLimit), wire.Or(offset, 0)
	if size < 1 || size > maxLimit {
		return 0, 0, wire.Fail("InvalidParameterValue.LimitExceeded", "`Limit` must be from 1 to %d, not %d.", maxLimit, size)
	}
	if start < 0 {
		return 0, 0, wire.Fail("InvalidParameterValue", "`Offset` must not be negative.")
	}
	from = int(min(start, int64(n)))
	return from, min(from+int(size), n), nil
}

// checkInstanceIDs refuses too many ids, and malformed ones.
func checkInstanceIDs(ids []string) *wire.Error {
	if len(ids) > maxIDs {
		return wire.Fail("InvalidParameterValue.LimitExceeded", "There may be at most %d instance ids, not %d.", maxIDs, len(ids))
	}
	return api.InstanceID.Check(ids...)
}

// checkZones refuses zones that aren't of the region.
func checkZones(regionID string, zoneIDs ...string) *wire.Error {
	for _, id := range zoneIDs {
		if world.RegionOfZone[id] != world.RegionByID[regionID] {
			return wire.Fail("InvalidZone.MismatchRegion", "The zone `%s` does not belong to the region `%s`.", wire.Printable(id), regionID)
		}
	}
	return nil
}
