package document

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Part is one of the documents of a shard.
type Part struct {
	Shard
	Number, Parts int
}

const (
	openPrefix   = "open-"
	closedPrefix = "closed-"
	recentName   = "recent"
	nodesName    = "nodes"
	bindingsName = "bound"

	// HeaderName is the name of the header's document.
	HeaderName = "header"
	// Extension is the extension of documents of records, which are Parquet.
	Extension = ".parquet"

	hourForm = "2006-01-02-15"
	dayForm  = "2006-01-02"
)

// String returns the first part of the names of the shard's documents: "closed-2026-11-20-05",
// "closed-2026-11-20", "open-3f" or "recent".
func (s Shard) String() string {
	form := hourForm
	switch s.Kind {
	case Recent:
		return recentName
	case Nodes:
		return nodesName
	case Bindings:
		return bindingsName
	case Open:
		return fmt.Sprintf(openPrefix+"%02x", -1-s.First)
	case Day:
		form = dayForm
	}
	from, _ := s.Span()
	return closedPrefix + time.UnixMilli(from).UTC().Format(form)
}

// String returns the name of the part's document: "closed-2026-11-20.parquet", or
// "closed-2026-11-20_1of2.parquet" for one of several.
func (p Part) String() string {
	name := p.Shard.String()
	if p.Parts > 1 {
		name = fmt.Sprintf("%s_%dof%d", name, p.Number, p.Parts)
	}
	if p.Kind == Nodes || p.Kind == Bindings {
		return name
	}
	return name + Extension
}

// MaxParts is the most documents that a shard can have.
const MaxParts = 1 << 12

// ParsePart parses the name of a document.
func ParsePart(name string) (Part, bool) {
	base, suffix, split := strings.Cut(strings.TrimSuffix(name, Extension), "_")
	p := Part{Number: 1, Parts: 1}
	if split {
		if n, err := fmt.Sscanf(suffix, "%dof%d", &p.Number, &p.Parts); n != 2 || err != nil || p.Parts < 2 || p.Parts > MaxParts || p.Number < 1 ||
			p.Number > p.Parts {
			return Part{}, false
		}
	}
	var known bool
	p.Shard, known = parseShard(base)
	return p, known && p.String() == name // a part has only one name
}

func parseShard(name string) (Shard, bool) {
	switch name {
	case recentName:
		return Shard{Kind: Recent}, true
	case nodesName:
		return Shard{Kind: Nodes}, true
	case bindingsName:
		return Shard{Kind: Bindings}, true
	}
	if number, open := strings.CutPrefix(name, openPrefix); open {
		n, err := strconv.ParseUint(number, 16, 8)
		return Shard{Kind: Open, First: -1 - Bin(n)}, err == nil && n < openBins
	}
	date, closed := strings.CutPrefix(name, closedPrefix)
	kind, form := Hour, hourForm
	if len(date) == len(dayForm) {
		kind, form = Day, dayForm
	}
	at, err := time.Parse(form, date)
	return Shard{Kind: kind, First: Bin(at.UnixMilli() / hour)}, closed && err == nil && at.UnixMilli() >= 0
}

// PartOf returns the part of a record, from 1. The number of parts is a power of two.
func PartOf(uid string, parts int) int {
	return int(hashOf(uid)/openBins%uint64(parts)) + 1
}
