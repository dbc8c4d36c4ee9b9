package document

// Bin is where a record belongs. From 0 it is the hour since 1970 in which the interval ended.
// Below 0 it is a bin of open records, by a hash of the UID.
type Bin int64

const (
	hour = 3_600_000
	day  = 24 * hour

	openBins = 64
)

// Open reports whether the bin is one of open records.
func (h Bin) Open() bool { return h < 0 }

// Day returns the first bin of a closed bin's day.
func (h Bin) Day() Bin { return h - h%24 }

// BinAt returns the bin of a record by its end, zero if it is open, and its UID.
func BinAt[S string | []byte](end int64, uid S) Bin {
	if end == 0 {
		return -1 - Bin(hashOf(uid)%openBins)
	}
	return Bin(end / hour)
}

// hashOf returns the same hash in every run and on every machine.
func hashOf[S string | []byte](uid S) uint64 {
	h := uint64(14695981039346656037) // FNV-1a
	for n := range len(uid) {
		h = (h ^ uint64(uid[n])) * 1099511628211
	}
	return h
}

// Shard is a group of records that are written together. Closed records of the last days are
// grouped by the hour, older ones by the day, and open ones by 64 bins. New records of open bins go
// to one shard of recent records until it is worth rewriting the bins. A shard that does not fit
// into one document is split into parts.
type Shard struct {
	Kind  Kind
	First Bin // the hour, the first hour of the day, or the only bin; 0 for recent records
}

// Kind is the content of a shard.
type Kind uint8

// The kinds of shards. The last two contain no records but nodes and bindings.
const (
	Hour Kind = iota
	Day
	Open
	Recent
	Nodes
	Bindings
)

// Closed reports whether the shard contains closed intervals.
func (s Shard) Closed() bool { return s.Kind == Hour || s.Kind == Day }

// hourlyDays is how many days, including that of the last run, are kept by the hour. So a run
// rewrites little, and each old day is one document.
const hourlyDays = 2

// ShardOf returns the shard of a bin in a ledger with the given last run.
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

// Holds reports whether a bin belongs to the shard.
func (s Shard) Holds(h Bin) bool {
	switch s.Kind {
	case Recent:
		return true
	case Day:
		return h >= s.First && h < s.First+24
	}
	return h == s.First
}

// Span returns the range of ends in a closed shard.
func (s Shard) Span() (from, to int64) {
	from = int64(s.First) * hour
	if s.Kind == Day {
		return from, from + day
	}
	return from, from + hour
}
