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
	// Magic starts each seal; a Parquet document has its seal under this key of its metadata.
	Magic = "gpupool-ledger"
	// Version is the version of the stored form.
	Version = 6

	// MaxSize limits the size of a document: an object of the Kubernetes API takes 1 MiB, including
	// names and annotations.
	MaxSize = 900 << 10
)

var form = seal.Form{Magic: Magic, Version: Version}

// Document is one document of a ledger, by its name without the cluster's UID.
type Document struct {
	Name    string
	Data    []byte // at most [MaxSize]
	Sum     string // its checksum
	Records int    // or what else it contains, for the header
}

// SealLine returns the seal of a new document, without its checksum.
func SealLine(name, clusterUID string) (string, error) {
	line, err := form.Line(name, clusterUID)
	if err != nil {
		return "", fmt.Errorf("invalid cluster UID %.60q", clusterUID)
	}
	return line, nil
}

// Seal writes the checksum into a document that is otherwise complete.
func Seal(name, clusterUID string, data []byte, records int) Document {
	return Document{Name: name, Data: data, Sum: form.Close(name, clusterUID, data), Records: records}
}

// Unseal checks the seal of a document. The error is *NewerError, *OlderError, *ClusterError or
// *DamagedError.
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
		err = errors.New("it exceeds the size limit of a document")
	}
	if err != nil {
		return Document{}, &DamagedError{Document: name, Reason: err.Error()}
	}
	return Document{Name: name, Data: data, Sum: sum}, nil
}

// EncodeJSON encodes and seals a document. The body ends with the seal.
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
		return &DamagedError{Document: d.Name, Reason: "unexpected data after its end"}
	}
	return nil
}
