package columns

import (
	"encoding/binary"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// Column has the values of one leaf of the schema, and is at one of its rows.
type Column struct {
	kind           parquet.Kind
	maxRep, maxDef int
	coded          bool // by a dictionary

	// Dict are the texts of a column that is coded by a dictionary.
	Dict []string

	rep, def []byte   // of each value, those that are null included
	codes    []uint32 // of Dict
	ints     []int64  // numbers, times and truths
	text     []byte   // texts that are in no dictionary
	ends     []int    // of these texts
	length   int      // values that are not null

	at       int // in the levels
	from, to int // the values of the row at hand
}

// decode adds the values of a page, and none that is null.
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

// deltas adds so many numbers, each of which is packed as what it is more than the
// one before.
func deltas(to []int64, packed []byte, values int) ([]int64, bool) {
	rest, announced := packed, uint64(0)
	for range 3 { // the sizes of blocks and of their parts, and how many values
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

// levels adds so many levels, none above the highest.
func levels(to []byte, packed []byte, values, highest int) ([]byte, bool) {
	width := uint(1)
	for highest>>width > 0 {
		width++
	}
	return runs(to, packed, values, width)
}

// runs adds so many numbers of some bits each, which are packed by the hybrid of
// run lengths and bits of Parquet.
func runs[T byte | uint32](to []T, packed []byte, values int, width uint) ([]T, bool) {
	end := len(to) + values
	for len(to) < end {
		header, n := binary.Uvarint(packed)
		if n <= 0 {
			return to, false
		}
		packed = packed[n:]
		if header&1 == 0 { // one number, many times
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

// Next goes on to the values of the next row.
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

// Coded says whether the column's texts are in a dictionary.
func (c *Column) Coded() bool { return c.coded }

// There says whether the row at hand has a value.
func (c *Column) There() bool { return c.to > c.from }

// Length is how many values the row at hand has.
func (c *Column) Length() int { return c.to - c.from }

// Number is that of the row at hand; zero where it has none.
func (c *Column) Number() int64 {
	if !c.There() {
		return 0
	}
	return c.ints[c.from]
}

// Codes are where the texts of the row at hand stand in the dictionary.
func (c *Column) Codes() []uint32 { return c.codes[c.from:c.to] }

// Text is the n-th text by dictionary of the row at hand; empty where it has none.
func (c *Column) Text(n int) string {
	if c.from+n >= c.to {
		return ""
	}
	return c.Dict[c.codes[c.from+n]]
}

// Plain is the n-th of all the texts of a column that is in no dictionary.
func (c *Column) Plain(n int) []byte {
	if n == 0 {
		return c.text[:c.ends[0]]
	}
	return c.text[c.ends[n-1]:c.ends[n]]
}
