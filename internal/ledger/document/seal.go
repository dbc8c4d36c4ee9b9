package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
	"github.com/gpupool/terraform-provider-gpupool/internal/seal"
)

const (
	// Magic is what seals begin with; Parquet has a seal under it in its metadata.
	Magic = "gpupool-ledger"
	// Version is that of the form that is written.
	Version = 5

	// MaxSize is how long a document may be: an object of the Kubernetes API takes 1 MiB,
	// names and annotations included.
	MaxSize = 900 << 10
)

var form = seal.Form{Magic: Magic, Version: Version}

// Document is one document of a ledger, by its name without the cluster's UID.
type Document struct {
	Name    string
	Data    []byte // at most [MaxSize]
	Sum     string // its checksum
	Records int    // or what else it has, by the header
}

// SealLine is the seal of a document that is being made, with no checksum yet.
func SealLine(name, clusterUID string) (string, error) {
	line, err := form.Line(name, clusterUID)
	if err != nil {
		return "", fmt.Errorf("%.60q is no UID of a cluster", clusterUID)
	}
	return line, nil
}

// Seal writes the checksum into a document that is otherwise whole.
func Seal(name, clusterUID string, data []byte, records int) Document {
	return Document{Name: name, Data: data, Sum: form.Close(name, clusterUID, data), Records: records}
}

// Unseal judges a document by its seal. The error is *NewerError, *OlderError,
// *ClusterError or *DamagedError.
func Unseal(name, clusterUID string, data []byte) (Document, error) {
	sum, err := form.Open(name, clusterUID, data)
	var newer *seal.NewerError
	var older *seal.OlderError
	var other *seal.SubjectError
	switch {
	case errors.As(err, &newer):
		return Document{}, &NewerError{Document: name, Version: newer.Version}
	case errors.As(err, &older):
		return Document{}, &OlderError{Document: name, Version: older.Version}
	case errors.As(err, &other):
		return Document{}, &ClusterError{What: "the ledger's document " + name, Is: other.Is, Want: clusterUID}
	case err == nil && len(data) > MaxSize:
		err = errors.New("it is longer than any that is written")
	}
	if err != nil {
		return Document{}, &DamagedError{Document: name, Reason: err.Error()}
	}
	return Document{Name: name, Data: data, Sum: sum}, nil
}

// EncodeJSON makes a document of what ends with the seal that it is given.
func EncodeJSON(name, clusterUID string, records int, body func(seal string) any) (Document, error) {
	line, err := SealLine(name, clusterUID)
	if err != nil {
		return Document{}, err
	}
	data, err := json.Marshal(body(line))
	if err != nil {
		return Document{}, fmt.Errorf("encoding the ledger's document %s: %w", name, err)
	}
	return Seal(name, clusterUID, append(data, '\n'), records), nil
}

// DecodeJSON reads a document in JSON. The error is *NewerError or *DamagedError.
func (d Document) DecodeJSON(to any) error {
	decoder := json.NewDecoder(bytes.NewReader(d.Data))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(to); err != nil {
		if _, field, unknown := strings.Cut(err.Error(), "json: unknown field "); unknown {
			return &NewerError{Document: d.Name, Field: strings.Trim(field, `"`)}
		}
		return &DamagedError{Document: d.Name, Reason: columns.ErrForm.Error()}
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return &DamagedError{Document: d.Name, Reason: "something follows where it should end"}
	}
	return nil
}
