package client

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// envelope begins what the API server answers in protobuf; a runtime.Unknown
// follows (k8s.io/apimachinery/pkg/runtime/serializer/protobuf).
const envelope = "k8s\x00"

// maxObject is more than etcd lets any object be.
const maxObject = 16 << 20

// errDamaged says that an answer is not the protobuf that it should be.
var errDamaged = errors.New("the answer is not a list in protobuf, or was cut off")

// readList reads a page as it arrives, in the memory of one object, however long the page is. It calls more
// with the token of the next page, empty on the last one, before the first object. It calls each with the
// bytes of every object, which the next one overwrites.
func readList(r io.Reader, more func(token string), each func(object []byte) error) error {
	in := &message{r: bufio.NewReaderSize(r, 1<<16)}
	var head [len(envelope)]byte
	if _, err := io.ReadFull(in.r, head[:]); err != nil {
		return damaged(err)
	}
	if string(head[:]) != envelope {
		return errDamaged
	}
	found := false
	in.left = -1
	for {
		number, kind, err := in.tag()
		if errors.Is(err, io.EOF) {
			if !found {
				return errDamaged
			}
			return nil
		}
		if err != nil {
			return err
		}
		const raw = 2
		if number != raw || kind != protowire.BytesType {
			if err := in.skip(kind); err != nil {
				return err
			}
			continue
		}
		length, err := in.varint()
		if err != nil {
			return damaged(err)
		}
		if length > math.MaxInt64 {
			return errDamaged
		}
		found = true
		in.left = int64(length)
		if err := in.items(more, each); err != nil {
			return err
		}
		in.left = -1
	}
}

// message reads the fields of one protobuf message out of a stream.
type message struct {
	r *bufio.Reader
	// left is how many bytes the message still has; below zero: until the end.
	left   int64
	buffer []byte
}

// items reads the fields of a list: its metadata is field 1, its items field 2,
// in all lists of the API.
func (m *message) items(more func(token string), each func([]byte) error) error {
	for m.left > 0 {
		number, kind, err := m.tag()
		if err != nil {
			return damaged(err)
		}
		if kind != protowire.BytesType || number > 2 {
			if err := m.skip(kind); err != nil {
				return err
			}
			continue
		}
		object, err := m.bytes()
		if err != nil {
			return err
		}
		if number == 1 {
			token, err := continueToken(object)
			if err != nil {
				return err
			}
			more(token)
			continue
		}
		if err := each(object); err != nil {
			return err
		}
	}
	return nil
}

// take notes that n bytes were read.
func (m *message) take(n int64) error {
	if m.left < 0 {
		return nil
	}
	if m.left -= n; m.left < 0 {
		m.left = 0
		return errDamaged
	}
	return nil
}

func (m *message) varint() (uint64, error) {
	counter := &counter{r: m.r}
	v, err := binary.ReadUvarint(counter)
	if err != nil {
		if errors.Is(err, io.EOF) && counter.n == 0 {
			return 0, io.EOF
		}
		return 0, damaged(err)
	}
	return v, m.take(counter.n)
}

func (m *message) tag() (protowire.Number, protowire.Type, error) {
	v, err := m.varint()
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(v)
	if number < protowire.MinValidNumber {
		return 0, 0, errDamaged
	}
	return number, kind, nil
}

// bytes reads a field of bytes; they are overwritten by the next call.
func (m *message) bytes() ([]byte, error) {
	length, err := m.varint()
	if err != nil {
		return nil, damaged(err)
	}
	if length > maxObject {
		return nil, fmt.Errorf("an object of %d bytes: %w", length, errDamaged)
	}
	if err := m.take(int64(length)); err != nil {
		return nil, err
	}
	if uint64(cap(m.buffer)) < length {
		m.buffer = make([]byte, length)
	}
	m.buffer = m.buffer[:length]
	if _, err := io.ReadFull(m.r, m.buffer); err != nil {
		return nil, damaged(err)
	}
	return m.buffer, nil
}

// skip passes over the value of a field.
func (m *message) skip(kind protowire.Type) error {
	var n uint64
	switch kind {
	case protowire.VarintType:
		_, err := m.varint()
		return damaged(err)
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		length, err := m.varint()
		if err != nil {
			return damaged(err)
		}
		n = length
	default:
		return errDamaged
	}
	if n > maxObject {
		return errDamaged
	}
	if err := m.take(int64(n)); err != nil {
		return err
	}
	_, err := m.r.Discard(int(n))
	return damaged(err)
}

// damaged reports whether an answer ended before it was whole.
func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", errDamaged, io.ErrUnexpectedEOF)
	}
	return err
}

// counter counts the bytes that are read through it.
type counter struct {
	r *bufio.Reader
	n int64
}

// ReadByte reads one byte.
func (c *counter) ReadByte() (byte, error) {
	b, err := c.r.ReadByte()
	if err == nil {
		c.n++
	}
	return b, err
}

// continueToken reads that of a ListMeta, in which it is field 3.
func continueToken(meta []byte) (token string, err error) {
	err = Fields(meta, func(number protowire.Number, value []byte) error {
		if number == 3 {
			token = string(value)
		}
		return nil
	})
	return token, err
}

// Fields calls each with the number and the value of every field of bytes,
// strings and messages alike, and passes over the rest.
func Fields(b []byte, each func(number protowire.Number, value []byte) error) error {
	for len(b) > 0 {
		number, kind, n := protowire.ConsumeTag(b)
		if n < 0 {
			return errDamaged
		}
		b = b[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
				return errDamaged
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return errDamaged
		}
		b = b[n:]
		if err := each(number, value); err != nil {
			return err
		}
	}
	return nil
}
