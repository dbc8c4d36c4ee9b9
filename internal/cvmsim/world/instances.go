package world

import (
	"slices"
	"strings"
)

// Instances are the existing ones, by ID.
type Instances struct {
	table[Instance]
	index     *index
	addresses map[string]string // IDs by network and address
	queries   map[string]cachedQuery
}

// Changed records that an instance was changed.
func (s *Instances) Changed(in *Instance) { s.changes.touch(s.kind, in.ID) }

func (s *Instances) add(in *Instance) {
	s.Put(in.ID, in)
	s.addresses[in.VPCID+"/"+in.PrivateIP] = in.ID
	if in.listed() {
		s.index.add(in)
	}
}

func (s *Instances) remove(in *Instance) {
	if in.listed() {
		s.index.remove(in)
	}
	delete(s.addresses, in.VPCID+"/"+in.PrivateIP)
	delete(s.rows, in.ID)
	s.Changed(in)
}

// Visible returns an instance that exists in a region and appears in its listings, or nil.
func (s *Instances) Visible(region, id string) *Instance {
	if in := s.rows[id]; in != nil && in.listed() && in.Region == region {
		return in
	}
	return nil
}

// Ordered lists all instances in the order of their launches.
func (s *Instances) Ordered() []*Instance {
	all := make([]*Instance, 0, len(s.rows))
	for _, in := range s.rows {
		all = append(all, in)
	}
	slices.SortFunc(all, byOrdinal)
	return all
}

// AddressTaken reports whether an instance of the network has the address.
func (s *Instances) AddressTaken(vpc, address string) bool {
	return s.addresses[vpc+"/"+address] != ""
}

// cachedQuery is the result of a query until something changes: the pages of one listing repeat the
// same query.
type cachedQuery struct {
	generation uint64
	found      []*Instance
}

const maxQueries = 256

// Query returns the instances that a region lists and that pass all filters, in
// the order of their launches.
func (s *Instances) Query(region string, filters []Filter) []*Instance {
	key := region
	for _, f := range filters {
		key += "\x00" + f.Name + "\x01" + strings.Join(f.Values, "\x02")
	}
	if cached, ok := s.queries[key]; ok && cached.generation == s.changes.generation {
		return cached.found
	}
	found := s.index.search(region, filters)
	if len(s.queries) >= maxQueries {
		clear(s.queries)
	}
	s.queries[key] = cachedQuery{generation: s.changes.generation, found: found}
	return found
}
