package ledger

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
)

// writer makes the body of a shard.
type writer struct{ b []byte }

func (w *writer) number(n uint64) { w.b = binary.AppendUvarint(w.b, n) }
func (w *writer) count(n int)     { w.number(uint64(n)) }

// absent stands for a value that is not there.
const absent = math.MinInt64

// second is what most times are whole multiples of.
const second = 1000

// column writes a value of each record: whole seconds as such where all are.
func (w *writer) column(values []int64) {
	unit := int64(second)
	for _, v := range values {
		if v != absent && v%second != 0 {
			unit = 1
			break
		}
	}
	w.count(int(unit))
	for _, v := range values {
		if v == absent {
			w.number(0)
			continue
		}
		v /= unit
		w.number(uint64(v<<1^v>>63) + 1)
	}
}

// reader takes the body of a shard apart. The first thing that cannot be is its
// err, after which it reads zeros.
type reader struct {
	b       []byte
	version int
	err     error
}

var errBody = errors.New("its content is not of the right form")

func (r *reader) fail() { r.b, r.err = nil, errBody }

func (r *reader) number() uint64 {
	n, size := binary.Uvarint(r.b)
	if size <= 0 {
		r.fail()
		return 0
	}
	r.b = r.b[size:]
	return n
}

// count reads how many things follow, each of at least so many bytes.
func (r *reader) count(size int) int {
	n := r.number()
	if n > uint64(len(r.b)/size) {
		r.fail()
		return 0
	}
	return int(n)
}

// below reads a number that must be below a limit.
func (r *reader) below(limit int) int {
	n := r.number()
	if n >= uint64(limit) {
		r.fail()
		return 0
	}
	return int(n)
}

func (r *reader) bytes(n int) []byte {
	if n > len(r.b) {
		r.fail()
		return nil
	}
	taken := r.b[:n]
	r.b = r.b[n:]
	return taken
}

// column reads a value of each record.
func (r *reader) column(values []int64) {
	unit := int64(r.number())
	if unit != 1 && unit != second {
		r.fail()
	}
	for n := range values {
		coded := r.number()
		if coded == 0 {
			values[n] = absent
			continue
		}
		coded--
		// No time is anywhere near as large; sums of a few stay in range.
		if values[n] = int64(coded>>1) ^ -int64(coded&1); values[n] > 1<<50 || values[n] < -1<<50 {
			r.fail()
			return
		}
		values[n] *= unit
	}
}

// uuidLength is that of a UUID's text, such as "0b9f7a1e-3c5d-4e6f-8a9b-0c1d2e3f4a5b".
const uuidLength = 36

// packUUID packs a UUID that is written in lower case.
func packUUID(s string) (packed [16]byte, ok bool) {
	if len(s) != uuidLength {
		return packed, false
	}
	var digits [32]byte
	for n, at := 0, 0; at < uuidLength; at++ {
		c := s[at]
		switch {
		case at == 8 || at == 13 || at == 18 || at == 23:
			if c != '-' {
				return packed, false
			}
			continue
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'f':
		default:
			return packed, false
		}
		digits[n] = c
		n++
	}
	_, err := hex.Decode(packed[:], digits[:])
	return packed, err == nil
}

func unpackUUID(packed []byte, to *[uuidLength]byte) {
	hex.Encode(to[:8], packed[:4])
	to[8] = '-'
	hex.Encode(to[9:13], packed[4:6])
	to[13] = '-'
	hex.Encode(to[14:18], packed[6:8])
	to[18] = '-'
	hex.Encode(to[19:23], packed[8:10])
	to[23] = '-'
	hex.Encode(to[24:], packed[10:16])
}
