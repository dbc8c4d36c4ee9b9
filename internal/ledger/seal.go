package ledger

import (
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/seal"
)

// Each document holds one seal, in the metadata of Parquet and in the last field
// of JSON. It is about the cluster, by its UID.
const (
	magic   = "gpupool-ledger"
	version = 5

	// maxDocument is how long a document may be: an object of the Kubernetes API
	// takes 1 MiB, names and annotations included.
	maxDocument = 900 << 10
)

var form = seal.Form{Magic: magic, Version: version}

// unsealed is the seal of a document that is being made, with no checksum yet.
func (l *Ledger) unsealed(name string) (string, error) {
	line, err := form.Line(name, l.Header.ClusterUID)
	if err != nil {
		return "", fmt.Errorf("%.60q is no UID of a cluster", l.Header.ClusterUID)
	}
	return line, nil
}

// seal writes the checksum into a document that is otherwise whole.
func (l *Ledger) seal(name string, data []byte) made {
	return made{Document: Document{Name: name, Data: data}, sum: form.Close(name, l.Header.ClusterUID, data)}
}

// sealed is a document whose seal was found whole.
type sealed struct {
	name, sum string
	data      []byte
}

// unseal judges a document by its seal. The error is *NewerError, *ClusterError or
// *DamagedError.
func unseal(name, clusterUID string, data []byte) (sealed, error) {
	sum, err := form.Open(name, clusterUID, data)
	var newer *seal.NewerError
	var other *seal.SubjectError
	switch {
	case errors.As(err, &newer):
		return sealed{}, &NewerError{Document: name, Version: newer.Version}
	case errors.As(err, &other):
		return sealed{}, &ClusterError{What: "the ledger's document " + name, Is: other.Is, Want: clusterUID}
	case err == nil && len(data) > maxDocument:
		err = errors.New("it is longer than any that is written")
	}
	if err != nil {
		return sealed{}, &DamagedError{Document: name, Reason: err.Error()}
	}
	return sealed{name: name, sum: sum, data: data}, nil
}
