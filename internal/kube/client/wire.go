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

// ErrDamaged says that an answer is not the protobuf that it should be.
var ErrDamaged = errors.New("the answer is not a list in protobuf, or was cut off")

// readList reads a page as it arrives. It calls more with the token of the page
// after it, empty on the last one, once that is known, which is before the first
// object, and each with the bytes of every object, which are overwritten by the
// next one. So it needs the memory of one object, however long the page is.
func readList(r io.Reader, more func(token string), each func(object []byte) error) error {
	in := &wire{r: bufio.NewReaderSize(r, 1<<16)}
	var head [len(envelope)]byte
	if _, err := io.ReadFull(in.r, head[:]); err != nil {
		return damaged(err)
	}
	if string(head[:]) != envelope {
		return ErrDamaged
	}
	found := false
	in.left = -1
	for {
		number, kind, err := in.tag()
		if errors.Is(err, io.EOF) {
			if !found {
				return ErrDamaged
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
			return ErrDamaged
		}
		found = true
		in.left = int64(length)
		if err := in.items(more, each); err != nil {
			return err
		}
		in.left = -1
	}
}

// wire reads the fields of one protobuf message out of a stream.
type wire struct {
	r *bufio.Reader
	// left is how many bytes the message still has; below zero: until the end.
	left   int64
	buffer []byte
}

// items reads the fields of a list: its metadata is field 1, its items field 2,
// in all lists of the API.
func (w *wire) items(more func(token string), each func([]byte) error) error {
	for w.left > 0 {
		number, kind, err := w.tag()
		if err != nil {
			return damaged(err)
		}
		if kind != protowire.BytesType || number > 2 {
			if err := w.skip(kind); err != nil {
				return err
			}
			continue
		}
		object, err := w.bytes()
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
func (w *wire) take(n int64) error {
	if w.left < 0 {
		return nil
	}
	if w.left -= n; w.left < 0 {
		w.left = 0
		return ErrDamaged
	}
	return nil
}

func (w *wire) varint() (uint64, error) {
	counter := &counter{r: w.r}
	v, err := binary.ReadUvarint(counter)
	if err != nil {
		if errors.Is(err, io.EOF) && counter.n == 0 {
			return 0, io.EOF
		}
		return 0, damaged(err)
	}
	return v, w.take(counter.n)
}

func (w *wire) tag() (protowire.Number, protowire.Type, error) {
	v, err := w.varint()
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(v)
	if number < protowire.MinValidNumber {
		return 0, 0, ErrDamaged
	}
	return number, kind, nil
}

// bytes reads a field of bytes; they are overwritten by the next call.
func (w *wire) bytes() ([]byte, error) {
	length, err := w.varint()
	if err != nil {
		return nil, damaged(err)
	}
	if length > maxObject {
		return nil, fmt.Errorf("an object of %d bytes: %w", length, ErrDamaged)
	}
	if err := w.take(int64(length)); err != nil {
		return nil, err
	}
	if uint64(cap(w.buffer)) < length {
		w.buffer = make([]byte, length)
	}
	w.buffer = w.buffer[:length]
	if _, err := io.ReadFull(w.r, w.buffer); err != nil {
		return nil, damaged(err)
	}
	return w.buffer, nil
}

// skip passes over the value of a field.
func (w *wire) skip(kind protowire.Type) error {
	var n uint64
	switch kind {
	case protowire.VarintType:
		_, err := w.varint()
		return damaged(err)
	case protowire.Fixed32Type:
		n = 4
	case protowire.Fixed64Type:
		n = 8
	case protowire.BytesType:
		length, err := w.varint()
		if err != nil {
			return damaged(err)
		}
		n = length
	default:
		return ErrDamaged
	}
	if n > maxObject {
		return ErrDamaged
	}
	if err := w.take(int64(n)); err != nil {
		return err
	}
	_, err := w.r.Discard(int(n))
	return damaged(err)
}

// damaged says that an answer ended before it was whole.
func damaged(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%w: %w", ErrDamaged, io.ErrUnexpectedEOF)
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
			return ErrDamaged
		}
		b = b[n:]
		if kind != protowire.BytesType {
			if n = protowire.ConsumeFieldValue(number, kind, b); n < 0 {
				return ErrDamaged
			}
			b = b[n:]
			continue
		}
		value, n := protowire.ConsumeBytes(b)
		if n < 0 {
			return ErrDamaged
		}
		b = b[n:]
		if err := each(number, value); err != nil {
			return err
		}
	}
	return nil
}
