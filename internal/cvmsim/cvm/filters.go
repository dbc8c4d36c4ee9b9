package cvm

import (
	"cmp"
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

// readFilters checks filters against the names of an action, and its limit of values. Names may be
// open-ended: known decides.
func readFilters(params []filterParams, maxValues int, known func(string) bool) ([]world.Filter, *wire.Error) {
	if len(params) > maxFilters {
		return nil, wire.Fail("InvalidFilterValue.LimitExceeded", "There may be at most %d filters, not %d.", maxFilters, len(params))
	}
	filters := make([]world.Filter, 0, len(params))
	for i, p := range params {
		name := wire.Or(p.Name, "")
		switch {
		case name == "":
			return nil, wire.Missing("Filters." + strconv.Itoa(i) + ".Name")
		case !known(name):
			return nil, wire.Fail("InvalidFilter", "There is no filter `%s`.", wire.Printable(name))
		case len(p.Values) == 0:
			return nil, wire.Missing("Filters." + strconv.Itoa(i) + ".Values")
		case len(p.Values) > maxValues:
			return nil, wire.Fail("InvalidFilterValue.LimitExceeded", "The filter `%s` may have at most %d values, not %d.", wire.Printable(name), maxValues,
				len(p.Values))
		}
		filters = append(filters, world.Filter{Name: name, Values: p.Values})
	}
	return filters, nil
}

func readZoneFilters(region string, params []filterParams, maxValues int, names ...string) ([]world.Filter, *wire.Error) {
	filters, failure := readFilters(params, maxValues, func(name string) bool { return slices.Contains(names, name) })
	return filters, cmp.Or(failure, checkZones(region, valuesOf(filters, "zone")...))
}

func valuesOf(filters []world.Filter, name string) []string {
	var values []string
	for _, f := range filters {
		if f.Name == name {
			values = append(values, f.Values...)
		}
	}
	return values
}

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

type paged struct {
	Offset *int64 `json:"Offset,omitempty"`
	Limit  *int64 `json:"Limit,omitempty"`
}

func page[T, R any](p paged, items []T, render func(T) R) ([]R, *wire.Error) {
	size, start := wire.Or(p.Limit, defaultLimit), wire.Or(p.Offset, 0)
	if size < 1 || size > maxLimit {
		return nil, wire.Fail("InvalidParameterValue.LimitExceeded", "`Limit` must be from 1 to %d, not %d.", maxLimit, size)
	}
	if start < 0 {
		return nil, wire.Fail("InvalidParameterValue", "`Offset` must not be negative.")
	}
	set, rest := []R{}, items[min(start, int64(len(items))):]
	for _, item := range rest[:min(size, int64(len(rest)))] {
		set = append(set, render(item))
	}
	return set, nil
}

type named struct {
	InstanceIDs []string `json:"InstanceIds,omitempty"`
}

func (p named) About() api.Subject { return api.Subject{InstanceIDs: p.InstanceIDs} }

// check rejects too many IDs, and malformed ones.
func (p named) check() *wire.Error {
	if len(p.InstanceIDs) > maxIDs {
		return wire.Fail("InvalidParameterValue.LimitExceeded", "There may be at most %d instance ids, not %d.", maxIDs, len(p.InstanceIDs))
	}
	return wire.InstanceID.Check(p.InstanceIDs...)
}

func checkZones(regionID string, zoneIDs ...string) *wire.Error {
	for _, id := range zoneIDs {
		if world.RegionOfZone[id] != world.RegionByID[regionID] {
			return wire.Fail("InvalidZone.MismatchRegion", "The zone `%s` does not belong to the region `%s`.", wire.Printable(id), regionID)
		}
	}
	return nil
}
