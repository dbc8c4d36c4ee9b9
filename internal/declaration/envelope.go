package declaration

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Version is the version of the documents that this program writes, and the only one that it
// reads. Version 1 is of builds long before the first release. Before the first release, fields
// are added within a version, since no other program's documents exist. After it, a new field
// means a new version, so that an older program reports that it is too old. An optional field
// may stay within a version, if it is omitted when unset, with a test that an older reader
// refuses others.
const Version = 3

const checksumPrefix = "sha256:"

type envelope struct {
	Version  int64           `json:"version"`
	Kind     string          `json:"kind"`
	Checksum string          `json:"checksum"` // of the body without insignificant space
	Body     json.RawMessage `json:"body"`
}

// Encode writes a document. It refuses a body that Decode would refuse.
func Encode[T Body](body T) ([]byte, error) {
	of, err := bodyOf[T]()
	if err != nil {
		return nil, err
	}
	kind := of.kind
	if err := of.validate(body); err != nil {
		return nil, fmt.Errorf("cannot write this %s: %w", describe(kind), err)
	}
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("cannot write this %s: %w", describe(kind), withoutValues(err))
	}
	document, err := json.MarshalIndent(envelope{Version: Version, Kind: kind, Checksum: checksum(data), Body: data}, "", "  ")
	if err != nil {
		return nil, fmt.Errorf("cannot write this %s: %w", describe(kind), withoutValues(err))
	}
	return append(document, '\n'), nil
}

// Decode reads a document. Errors call it what, such as
// "spot_pools/ap-singapore/train in directory:.gpupool". They are *NewerError,
// *OlderError and *DamagedError, and quote nothing of the document.
func Decode[T Body](what string, data []byte) (T, error) {
	opened, err := Open[T](what, data)
	if err != nil {
		var none T
		return none, err
	}
	return opened.Decode(what)
}

// Opened is a document whose envelope and checksum are valid. Its body may still be invalid.
type Opened[T Body] struct{ body json.RawMessage }

// Open checks all of a document but its body. Errors are those of Decode.
func Open[T Body](what string, data []byte) (Opened[T], error) {
	of, err := bodyOf[T]()
	if err != nil {
		return Opened[T]{}, err
	}
	body, err := open(what, of.kind, data)
	return Opened[T]{body}, err
}

// Size returns the size of the body.
func (o Opened[T]) Size() int { return len(o.body) }

// Decode decodes the body, each time into a new value. Errors are those of Decode.
func (o Opened[T]) Decode(what string) (T, error) {
	var value, none T
	of, err := bodyOf[T]()
	if err != nil {
		return none, err
	}
	if err := decodeStrict(o.body, &value); err != nil {
		if field, unknown := unknownField(err); unknown {
			return none, &NewerError{What: what, Version: Version, Field: field}
		}
		return none, &DamagedError{What: what, Kind: of.kind, Reason: withoutValues(err).Error()}
	}
	if err := of.validate(value); err != nil {
		return none, &DamagedError{What: what, Kind: of.kind, Reason: err.Error()}
	}
	return value, nil
}

// open checks a document's envelope, and returns its body without insignificant space.
func open(what, kind string, data []byte) (json.RawMessage, error) {
	damaged := func(reason string) (json.RawMessage, error) {
		return nil, &DamagedError{What: what, Kind: kind, Reason: reason}
	}
	// An envelope of another version may have other fields, so the version is read
	// first.
	var versioned struct {
		Version int64 `json:"version"`
	}
	if err := json.Unmarshal(data, &versioned); err != nil {
		return damaged(withoutValues(err).Error())
	}
	if versioned.Version > Version {
		return nil, &NewerError{What: what, Version: versioned.Version}
	}
	if versioned.Version < 1 {
		return damaged("it has no version")
	}
	if versioned.Version < Version {
		return nil, &OlderError{What: what, Kind: kind, Version: versioned.Version}
	}
	var e envelope
	if err := decodeStrict(data, &e); err != nil {
		return damaged(withoutValues(err).Error())
	}
	if e.Kind != kind {
		return damaged("its kind is not " + describe(kind))
	}
	if len(e.Body) == 0 || string(e.Body) == "null" {
		return damaged("it is empty")
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, e.Body); err != nil {
		return damaged(withoutValues(err).Error())
	}
	if e.Checksum != checksum(compact.Bytes()) {
		return damaged("its checksum does not match what it holds")
	}
	return compact.Bytes(), nil
}

func checksum(compact []byte) string {
	sum := sha256.Sum256(compact)
	return checksumPrefix + hex.EncodeToString(sum[:])
}

// decodeStrict decodes one JSON value and nothing else.
func decodeStrict(data []byte, into any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(into); err != nil {
		return err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return errTrailing
	}
	return nil
}

// unknownField tells the error of DisallowUnknownFields from others: it has no
// type of its own (Go issue 29035).
func unknownField(err error) (string, bool) {
	rest, found := strings.CutPrefix(err.Error(), "json: unknown field ")
	return strings.Trim(rest, `"`), found
}

func describe(kind string) string { return strings.ReplaceAll(kind, "_", " ") }
