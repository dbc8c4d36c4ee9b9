package ledger

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// Each document holds one seal, in the metadata of Parquet and in the last field
// of JSON:
//
//	gpupool-ledger VERSION NAME CLUSTER-UID CHECKSUM
//
// CHECKSUM is the first half of the SHA-256 of the whole document, with zeros in
// the place of the checksum itself: no byte can change unseen.
const (
	magic   = "gpupool-ledger"
	version = 5

	// maxDocument is how long a document may be: an object of the Kubernetes API
	// takes 1 MiB, names and annotations included.
	maxDocument = 900 << 10

	sumLength = sha256.Size // hexadecimal digits of half of it
	maxSeal   = 1 << 10
)

var noSum = bytes.Repeat([]byte{'0'}, sumLength)

// unsealed is the seal of a document that is being made, with no checksum yet.
func (l *Ledger) unsealed(name string) (string, error) {
	uid := l.Header.ClusterUID
	odd := func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) }
	if uid == "" || len(uid) > maxText || strings.ContainsFunc(uid, odd) {
		return "", fmt.Errorf("%.60q is no UID of a cluster", uid)
	}
	return fmt.Sprintf("%s %d %s %s %s", magic, version, name, uid, noSum), nil
}

// seal writes the checksum into a document that is otherwise whole.
func (l *Ledger) seal(name string, data []byte) made {
	prefix := fmt.Sprintf("%s %d %s %s ", magic, version, name, l.Header.ClusterUID)
	at := bytes.LastIndex(data, []byte(prefix)) + len(prefix)
	sum := checksum(data, at)
	copy(data[at:], sum)
	return made{Document: Document{Name: name, Data: data}, sum: sum}
}

// checksum is that of a document whose own stands somewhere.
func checksum(data []byte, at int) string {
	h := sha256.New()
	for _, part := range [][]byte{data[:at], noSum, data[at+sumLength:]} {
		_, _ = h.Write(part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:sumLength/2])
}

// sealed is a document whose seal was found whole.
type sealed struct {
	name, sum string
	data      []byte
}

// unseal judges a document by its seal. The error is *NewerError, *ClusterError or
// *DamagedError.
func unseal(name, clusterUID string, data []byte) (sealed, error) {
	damaged := func(reason string) (sealed, error) {
		return sealed{}, &DamagedError{Document: name, Reason: reason}
	}
	// What records say stands before the seal, in either form.
	at := bytes.LastIndex(data, []byte(magic+" "))
	switch {
	case len(data) == 0:
		return damaged("it is empty")
	case at < 0:
		return damaged("it is no document of a ledger, or was cut short")
	}
	fields := strings.SplitN(string(data[at:min(len(data), at+maxSeal)]), " ", 5)
	written, err := strconv.Atoi(fields[1])
	switch {
	case err != nil || written < 1:
		return damaged("it has no version")
	case written > version:
		return sealed{}, &NewerError{Document: name, Version: written}
	case written < version:
		return damaged("its form is from before the first release")
	case len(fields) < 5 || len(fields[4]) < sumLength:
		return damaged("its seal is not whole")
	}
	sumAt := at + len(strings.Join(fields[:4], " ")) + 1
	s := sealed{name: name, sum: string(data[sumAt : sumAt+sumLength]), data: data}
	switch {
	case s.sum != checksum(data, sumAt):
		return damaged("its checksum is not that of its content")
	case fields[2] != name:
		return damaged("it was written under another name")
	case fields[3] != clusterUID:
		return sealed{}, &ClusterError{What: "the ledger's document " + name, Is: fields[3], Want: clusterUID}
	case len(data) > maxDocument:
		return damaged("it is longer than any that is written")
	}
	return s, nil
}
