//go:build unix

package main

import "google.golang.org/protobuf/encoding/protowire"

// fields goes through the messages in the beginning of a longer one; the last
// may be cut off.
type fields struct {
	rest   []byte
	number protowire.Number
	value  []byte
}

func newFields(b []byte) *fields { return &fields{rest: b} }

func (f *fields) next() bool {
	for len(f.rest) > 0 {
		number, kind, n := protowire.ConsumeTag(f.rest)
		if n < 0 {
			return false
		}
		f.rest = f.rest[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, f.rest); n < 0 {
				return false
			}
			f.rest = f.rest[n:]
			continue
		}
		length, n := protowire.ConsumeVarint(f.rest)
		if n < 0 {
			return false
		}
		f.rest = f.rest[n:]
		size := int(min(length, uint64(len(f.rest))))
		f.number, f.value, f.rest = number, f.rest[:size], f.rest[size:]
		return true
	}
	return false
}
