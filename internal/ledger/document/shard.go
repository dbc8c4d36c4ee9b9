package document

// Bin is where a record belongs: from 0 the hour since 1970 in which its
// interval ended, below 0 one of the bins of open records, by a hash of the UID.
type Bin int64

const (
	hour = 3_600_000
	day  = 24 * hour

	openBins = 64
)

// Open says whether the bin is one of open records.
func (h Bin) Open() bool { return h < 0 }

// Day is the first bin of a closed bin's day.
func (h Bin) Day() Bin { return h - h%24 }

// BinAt is the bin of a record by when it ended, zero for one that is open, and its UID.
func BinAt[S string | []byte](end int64, uid S) Bin {
	if end == 0 {
		return -1 - Bin(hashOf(uid)%openBins)
	}
	return Bin(end / hour)
}

// hashOf is the same in every run and on every machine.
func hashOf[S string | []byte](uid S) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for n := range len(uid) {
		h = (h ^ uint64(uid[n])) * 1099511628211
	}
	return h
}

// Shard is a group of records that are written together: closed ones each hour
// of the last days, and each whole day before them; open ones by 64 bins. What
// is new of open bins is written to one shard of recent records, until that is
// worth to rewrite their own. Where a shard is too much for one document, it is
// split into parts.
type Shard struct {
	Kind  Kind
	First Bin // the hour, the first hour of the day, or the only bin; 0 of what is recent
}

// Kind is what a shard holds.
type Kind uint8

// The kinds of shards. The last two hold no records: the nodes that are remembered, and
// the pods that are bound and have no record.
const (
	Hour Kind = iota
	Day
	Open
	Recent
	Nodes
	Bindings
)

// Closed says whether the shard holds closed intervals.
func (s Shard) Closed() bool { return s.Kind == Hour || s.Kind == Day }

// hourlyDays are how many days, that of the last run included, are kept by the
// hour: so that a run rewrites little, and old days are one document each.
const hourlyDays = 2

// ShardOf is where a bin is written by a ledger whose last run was then.
func ShardOf(h Bin, lastRun int64) Shard {
	if h.Open() {
		return Shard{Kind: Open, First: h}
	}
	today := lastRun - lastRun%day
	if int64(h)*hour < today-(hourlyDays-1)*day {
		return Shard{Kind: Day, First: h.Day()}
	}
	return Shard{Kind: Hour, First: h}
}

// Holds says whether the shard holds what is at a bin.
func (s Shard) Holds(h Bin) bool {
	switch s.Kind {
	case Recent:
		return true
	case Day:
		return h >= s.First && h < s.First+24
	}
	return h == s.First
}

// Span is when what the closed shard holds ended.
func (s Shard) Span() (from, to int64) {
	from = int64(s.First) * hour
	if s.Kind == Day {
		return from, from + day
	}
	return from, from + hour
}
