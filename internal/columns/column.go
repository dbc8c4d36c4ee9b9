package columns

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Column contains the values of one leaf of the schema, and has a current row.
type Column struct {
	kind           parquet.Kind
	maxRep, maxDef int
	coded          bool // with a dictionary

	// Dict is the dictionary of a coded column.
	Dict []string

	rep, def []byte   // of each value, including nulls
	codes    []uint32 // of Dict
	ints     []int64  // numbers, times and booleans
	text     []byte   // texts without a dictionary
	ends     []int    // of these texts
	length   int      // values that are not null

	at       int // in the levels
	from, to int // the values of the current row
}

// decode adds the values of a page that are not null.
func (c *Column) decode(page []byte, values int, encoding format.Encoding) error {
	ok := false
	switch {
	case c.coded && encoding == format.RLEDictionary:
		if values == 0 {
			return nil
		}
		if len(page) > 0 && page[0] <= 32 {
			c.codes, ok = runs(c.codes, page[1:], values, uint(page[0]))
		}
		for _, code := range c.codes[len(c.codes)-min(values, len(c.codes)):] {
			ok = ok && int(code) < len(c.Dict)
		}
	case c.kind == parquet.Int64 && encoding == format.DeltaBinaryPacked:
		if values == 0 {
			return nil
		}
		c.ints, ok = deltas(c.ints, page, values)
	case c.coded || encoding != format.Plain:
	case c.kind == parquet.ByteArray:
		ok = true
		for range values {
			var text []byte
			if text, page, ok = cutText(page); !ok {
				break
			}
			c.text = append(c.text, text...)
			c.ends = append(c.ends, len(c.text))
		}
	case c.kind == parquet.Boolean:
		if ok = len(page) >= (values+7)/8; ok {
			for n := range values {
				c.ints = append(c.ints, int64(page[n/8]>>(n%8)&1))
			}
		}
	case c.kind == parquet.Int32:
		if ok = len(page) == 4*values; ok {
			for ; len(page) > 0; page = page[4:] {
				c.ints = append(c.ints, int64(int32(binary.LittleEndian.Uint32(page))))
			}
		}
	}
	if !ok {
		return ErrForm
	}
	return nil
}

// deltas adds numbers, each of which is packed as the difference to the one before.
func deltas(to []int64, packed []byte, values int) ([]int64, bool) {
	rest, announced := packed, uint64(0)
	for range 3 { // the sizes of blocks and their parts, and the number of values
		number, n := binary.Uvarint(rest)
		if n <= 0 {
			return to, false
		}
		rest, announced = rest[n:], number
	}
	if announced != uint64(values) {
		return to, false
	}
	numbers, err := parquet.DeltaBinaryPacked.DecodeInt64(nil, packed)
	return append(to, numbers...), err == nil && len(numbers) == values
}

// levels adds levels, none above the highest.
func levels(to []byte, packed []byte, values, highest int) ([]byte, bool) {
	width := uint(1)
	for highest>>width > 0 {
		width++
	}
	return runs(to, packed, values, width)
}

// runs adds numbers of a bit width, which use Parquet's hybrid of run lengths and bit packing.
func runs[T byte | uint32](to []T, packed []byte, values int, width uint) ([]T, bool) {
	end := len(to) + values
	for len(to) < end {
		header, n := binary.Uvarint(packed)
		if n <= 0 {
			return to, false
		}
		packed = packed[n:]
		if header&1 == 0 { // one number, repeated
			size := int(width+7) / 8
			if header>>1 == 0 || size > len(packed) {
				return to, false
			}
			number := uint32(0)
			for n, b := range packed[:size] {
				number |= uint32(b) << (8 * n)
			}
			packed = packed[size:]
			for range min(header>>1, uint64(end-len(to))) {
				to = append(to, T(number))
			}
			continue
		}
		groups := header >> 1 // of eight numbers
		if groups == 0 || groups > uint64(len(packed)) && width > 0 || groups*uint64(width) > uint64(len(packed)) {
			return to, false
		}
		bits, have := uint64(0), uint(0)
		for count, at := min(8*groups, uint64(end-len(to))), 0; count > 0; count-- {
			for ; have < width; have += 8 {
				bits |= uint64(packed[at]) << have
				at++
			}
			to = append(to, T(bits&(1<<width-1)))
			bits, have = bits>>width, have-width
		}
		packed = packed[groups*uint64(width):]
	}
	return to, true
}

// Next advances to the next row.
func (c *Column) Next() {
	c.from = c.to
	if c.maxDef == 0 {
		c.to++
		return
	}
	for first := true; c.at < len(c.def) && (first || c.maxRep > 0 && c.rep[c.at] > 0); first = false {
		if int(c.def[c.at]) == c.maxDef {
			c.to++
		}
		c.at++
	}
}

// Coded reports whether the column has a dictionary.
func (c *Column) Coded() bool { return c.coded }

// There reports whether the current row has a value.
func (c *Column) There() bool { return c.to > c.from }

// Length returns how many values the current row has.
func (c *Column) Length() int { return c.to - c.from }

// Number returns the number of the current row; zero if it has none.
func (c *Column) Number() int64 {
	if !c.There() {
		return 0
	}
	return c.ints[c.from]
}

// Codes returns the dictionary codes of the current row.
func (c *Column) Codes() []uint32 { return c.codes[c.from:c.to] }

// Text returns the n-th dictionary text of the current row; empty if it has none.
func (c *Column) Text(n int) string {
	if c.from+n >= c.to {
		return ""
	}
	return c.Dict[c.codes[c.from+n]]
}

// Plain returns the n-th text of a column without a dictionary.
func (c *Column) Plain(n int) []byte {
	if n == 0 {
		return c.text[:c.ends[0]]
	}
	return c.text[c.ends[n-1]:c.ends[n]]
}
