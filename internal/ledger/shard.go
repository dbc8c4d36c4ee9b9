package ledger

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bin is where a record belongs: from 0 the hour since 1970 in which its
// interval ended, below 0 one of the bins of open records, by a hash of the UID.
type bin int64

const (
	hour Time = 3_600_000
	day       = 24 * hour

	openBins = 64
)

func (h bin) open() bool { return h < 0 }

func binOf(r *Record) bin { return binAt(r.End.At, r.UID) }

func binAt[S string | []byte](end Time, uid S) bin {
	if end == 0 {
		return -1 - bin(hashOf(uid)%openBins)
	}
	return bin(end / hour)
}

// hashOf is the same in every run and on every machine.
func hashOf[S string | []byte](uid S) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for n := range len(uid) {
		h = (h ^ uint64(uid[n])) * 1099511628211
	}
	return h
}

// shard is a group of records that are written together: closed ones each hour
// of the last days, and each whole day before them; open ones by 64 bins. What
// is new of open bins is written to one shard of recent records, until that is
// worth to rewrite their own. Where a shard is too much for one document, it is
// split into parts.
type shard struct {
	kind  shardKind
	first bin // the hour, the first hour of the day, or the only bin; 0 of what is recent
}

type shardKind uint8

const (
	hourShard shardKind = iota
	dayShard
	openShard
	recentShard
	nodesShard    // no records: the nodes that are remembered
	bindingsShard // no records: the pods that are bound and have none
)

func (s shard) closed() bool { return s.kind == hourShard || s.kind == dayShard }

// part is one document of a shard: the number-th of so many.
type part struct {
	shard
	number, parts int
}

const (
	openPrefix   = "open-"
	closedPrefix = "closed-"
	recentName   = "recent"
	nodesName    = "nodes"
	bindingsName = "bound"
	headerName   = "header"

	// extension ends the names of documents of records, which are Parquet.
	extension = ".parquet"

	hourForm = "2006-01-02-15"
	dayForm  = "2006-01-02"

	// hourlyDays are how many days, that of the last run included, are kept by
	// the hour: so that a run rewrites little, and old days are one document each.
	hourlyDays = 2
)

// shardOf is where a bin is written by a ledger whose last run was then.
func shardOf(h bin, lastRun Time) shard {
	if h.open() {
		return shard{kind: openShard, first: h}
	}
	today := lastRun - lastRun%day
	if Time(h)*hour < today-(hourlyDays-1)*day {
		return shard{kind: dayShard, first: h - h%24}
	}
	return shard{kind: hourShard, first: h}
}

// holds says whether the shard holds what is at a bin.
func (s shard) holds(h bin) bool {
	switch s.kind {
	case recentShard:
		return true
	case dayShard:
		return h >= s.first && h < s.first+24
	}
	return h == s.first
}

// span is when what the closed shard holds ended.
func (s shard) span() (from, to Time) {
	from = Time(s.first) * hour
	if s.kind == dayShard {
		return from, from + day
	}
	return from, from + hour
}

// String is what the names of the shard's documents begin with:
// "closed-2026-11-20-05", "closed-2026-11-20", "open-3f" or "recent".
func (s shard) String() string {
	form := hourForm
	switch s.kind {
	case recentShard:
		return recentName
	case nodesShard:
		return nodesName
	case bindingsShard:
		return bindingsName
	case openShard:
		return fmt.Sprintf(openPrefix+"%02x", -1-s.first)
	case dayShard:
		form = dayForm
	}
	from, _ := s.span()
	return closedPrefix + time.UnixMilli(int64(from)).UTC().Format(form)
}

// String is the name of the part's document: "closed-2026-11-20.parquet", or
// "closed-2026-11-20_1of2.parquet" for one of several.
func (p part) String() string {
	name := p.shard.String()
	if p.parts > 1 {
		name = fmt.Sprintf("%s_%dof%d", name, p.number, p.parts)
	}
	if p.kind == nodesShard || p.kind == bindingsShard {
		return name
	}
	return name + extension
}

// maxParts is into how many documents a shard may be split.
const maxParts = 1 << 12

// parsePart reads the name of a document.
func parsePart(name string) (part, bool) {
	base, suffix, split := strings.Cut(strings.TrimSuffix(name, extension), "_")
	p := part{number: 1, parts: 1}
	if split {
		if n, err := fmt.Sscanf(suffix, "%dof%d", &p.number, &p.parts); n != 2 || err != nil || p.parts < 2 || p.parts > maxParts || p.number < 1 ||
			p.number > p.parts {
			return part{}, false
		}
	}
	var known bool
	p.shard, known = parseShard(base)
	return p, known && p.String() == name // no two names of one part
}

func parseShard(name string) (shard, bool) {
	switch name {
	case recentName:
		return shard{kind: recentShard}, true
	case nodesName:
		return shard{kind: nodesShard}, true
	case bindingsName:
		return shard{kind: bindingsShard}, true
	}
	if number, open := strings.CutPrefix(name, openPrefix); open {
		n, err := strconv.ParseUint(number, 16, 8)
		return shard{kind: openShard, first: -1 - bin(n)}, err == nil && n < openBins
	}
	date, closed := strings.CutPrefix(name, closedPrefix)
	kind, form := hourShard, hourForm
	if len(date) == len(dayForm) {
		kind, form = dayShard, dayForm
	}
	at, err := time.Parse(form, date)
	return shard{kind: kind, first: bin(Time(at.UnixMilli()) / hour)}, closed && err == nil && at.UnixMilli() >= 0
}

// partOf is the part of a record among so many, from 1; parts is a power of two.
func partOf(uid string, parts int) int {
	return int(hashOf(uid)/openBins%uint64(parts)) + 1
}
