package cvmsim

import (
	"slices"
	"strconv"
)

type filterParams struct {
	Name   *string  `json:"Name,omitempty"`
	Values []string `json:"Values,omitempty"`
}

// filter is a checked filter: any of the values will do.
type filter struct {
	name   string
	values []string
}

const maxFilters = 10

// readFilters checks filters against the names that an action knows, and its
// limit of values. Names may be open-ended: known decides.
func readFilters(params []filterParams, maxValues int, known func(string) bool) ([]filter, *apiError) {
	if len(params) > maxFilters {
		return nil, fail("InvalidFilterValue.LimitExceeded", "There may be at most %d filters, not %d.", maxFilters, len(params))
	}
	filters := make([]filter, 0, len(params))
	for i, p := range params {
		name := or(p.Name, "")
		if name == "" {
			return nil, missing("Filters." + strconv.Itoa(i) + ".Name")
		}
		if !known(name) {
			return nil, fail("InvalidFilter", "There is no filter `%s`.", printable(name))
		}
		if len(p.Values) == 0 {
			return nil, missing("Filters." + strconv.Itoa(i) + ".Values")
		}
		if len(p.Values) > maxValues {
			return nil, fail("InvalidFilterValue.LimitExceeded", "The filter `%s` may have at most %d values, not %d.", printable(name), maxValues, len(p.Values))
		}
		filters = append(filters, filter{name: name, values: p.Values})
	}
	return filters, nil
}

func oneOf(names ...string) func(string) bool {
	return func(name string) bool { return slices.Contains(names, name) }
}

func (f filter) has(value string) bool { return slices.Contains(f.values, value) }

// valuesOf joins the values of all filters of a name.
func valuesOf(filters []filter, name string) []string {
	var values []string
	for _, f := range filters {
		if f.name == name {
			values = append(values, f.values...)
		}
	}
	return values
}

// passes reports whether every filter of the name has the value.
func passes(filters []filter, name, value string) bool {
	for _, f := range filters {
		if f.name == name && !f.has(value) {
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
func page(offset, limit *int64, n int) (from, to int, failure *apiError) {
	size, start := or(limit, defaultLimit), or(offset, 0)
	if size < 1 || size > maxLimit {
		return 0, 0, fail("InvalidParameterValue.LimitExceeded", "`Limit` must be from 1 to %d, not %d.", maxLimit, size)
	}
	if start < 0 {
		return 0, 0, fail("InvalidParameterValue", "`Offset` must not be negative.")
	}
	from = int(min(start, int64(n)))
	return from, min(from+int(size), n), nil
}

// checkInstanceIDs refuses too many ids, and malformed ones.
func checkInstanceIDs(ids []string) *apiError {
	if len(ids) > maxIDs {
		return fail("InvalidParameterValue.LimitExceeded", "There may be at most %d instance ids, not %d.", maxIDs, len(ids))
	}
	for _, id := range ids {
		if failure := checkID(instanceID, "InvalidInstanceId.Malformed", id); failure != nil {
			return failure
		}
	}
	return nil
}
