package api

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"reflect"
	"sync"

	"github.com/danielgtaylor/huma/v2"
)

// Body is a response body that requests can share. It must not change.
type Body struct {
	JSON []byte
	// Tag returns its ETag, and Gzip its compressed form. Each is made once, on demand.
	Tag  func() string
	Gzip func() []byte
}

// NewBody returns the body of some data.
func NewBody(data []byte) *Body {
	return &Body{
		JSON: data,
		Tag: sync.OnceValue(func() string {
			sum := sha256.Sum256(data)
			return `W/"` + hex.EncodeToString(sum[:12]) + `"`
		}),
		Gzip: sync.OnceValue(func() []byte {
			var packed bytes.Buffer
			// A buffer accepts every write, and the level is valid.
			z, _ := gzip.NewWriterLevel(&packed, gzip.BestSpeed)
			_, _ = z.Write(data)
			_ = z.Close()
			return packed.Bytes()
		}),
	}
}

// BodyWriter is a response that sends a shared body without a copy.
type BodyWriter interface{ WriteBody(b *Body) }

// shared is a value that requests share, with its body.
type shared[T any] struct {
	value  T
	encode func() (*Body, error)
}

func newShared[T any](value T) *shared[T] {
	return &shared[T]{value, sync.OnceValues(func() (*Body, error) {
		var data bytes.Buffer
		err := huma.DefaultJSONFormat.Marshal(&data, value)
		return NewBody(data.Bytes()), err
	})}
}

func (s *shared[T]) body() (*Body, error) { return s.encode() }

// ahead encodes the value now.
func (s *shared[T]) ahead() (*shared[T], error) {
	body, err := s.body()
	if err == nil {
		body.Tag()
		body.Gzip()
	}
	return s, err
}

// MarshalJSON is for encoders that do not share the body.
func (s *shared[T]) MarshalJSON() ([]byte, error) { return json.Marshal(s.value) }

// Schema returns the schema of the value.
func (s *shared[T]) Schema(r huma.Registry) *huma.Schema {
	return r.Schema(reflect.TypeFor[T](), true, "")
}

// formats are those of responses. JSON of a shared value is encoded once.
func formats() map[string]huma.Format {
	of := huma.Format{Marshal: marshal, Unmarshal: huma.DefaultJSONFormat.Unmarshal}
	return map[string]huma.Format{"application/json": of, "json": of}
}

func marshal(w io.Writer, value any) error {
	s, ok := value.(interface{ body() (*Body, error) })
	if !ok {
		return huma.DefaultJSONFormat.Marshal(w, value)
	}
	body, err := s.body()
	if err != nil {
		return err
	}
	if to, ok := w.(BodyWriter); ok {
		to.WriteBody(body)
		return nil
	}
	_, err = w.Write(body.JSON)
	return err
}
