package ledger

import (
	"bytes"
	"compress/flate"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Each document begins with one line of text,
//
//	gpupool-ledger VERSION NAME CLUSTER-UID LENGTH CHECKSUM
//
// and goes on with its body, compressed by DEFLATE. LENGTH is that of the body;
// CHECKSUM is the first half of the SHA-256 of the line before it and of what
// follows the line.
const (
	magic   = "gpupool-ledger"
	version = 4

	// maxDocument is how long a document may be: an object of the Kubernetes API
	// takes 1 MiB, names and annotations included.
	maxDocument = 900 << 10
	// maxBody is how long a body may be. What unpacks to more is not unpacked.
	maxBody = 8 << 20

	maxLine = 1 << 10
)

// packer seals documents: it keeps what compression takes room for.
type packer struct{ flate *flate.Writer }

// seal makes a document of a body.
func (p *packer) seal(name, clusterUID string, body []byte) (sealed, []byte, error) {
	if clusterUID == "" || strings.ContainsAny(clusterUID, " \n") || len(clusterUID) > maxText {
		return sealed{}, nil, fmt.Errorf("%.60q is no UID of a cluster", clusterUID)
	}
	var packed bytes.Buffer
	if p.flate == nil {
		p.flate, _ = flate.NewWriter(nil, flate.DefaultCompression) // fails for another level alone
	}
	p.flate.Reset(&packed)
	if _, err := p.flate.Write(body); err != nil {
		return sealed{}, nil, err
	}
	if err := p.flate.Close(); err != nil {
		return sealed{}, nil, err
	}
	line := fmt.Sprintf("%s %d %s %s %d", magic, version, name, clusterUID, len(body))
	s := sealed{name: name, sum: checksum(line, packed.Bytes()), length: len(body)}
	document := fmt.Appendf(nil, "%s %s\n", line, s.sum)
	start := len(document)
	document = append(document, packed.Bytes()...)
	s.packed = document[start:]
	return s, document, nil
}

func checksum(line string, packed []byte) string {
	h := sha256.New()
	_, _ = h.Write([]byte(line)) // never fails
	_, _ = h.Write(packed)
	return hex.EncodeToString(h.Sum(nil)[:sha256.Size/2])
}

// sealed is a document whose seal was found whole.
type sealed struct {
	name    string
	version int
	sum     string
	length  int
	packed  []byte
}

// unseal reads a document's line. The error is *NewerError, *ClusterError or
// *DamagedError.
func unseal(name, clusterUID string, document []byte) (sealed, error) {
	damaged := func(reason string) (sealed, error) {
		return sealed{}, &DamagedError{Document: name, Reason: reason}
	}
	end := bytes.IndexByte(document[:min(len(document), maxLine)], '\n')
	switch {
	case len(document) == 0:
		return damaged("it is empty")
	case !bytes.HasPrefix(document, []byte(magic+" ")):
		return damaged("it is no document of a ledger")
	case end < 0:
		return damaged("it ends too early")
	}
	fields := strings.Split(string(document[:end]), " ")
	written, err := strconv.Atoi(fields[1])
	switch {
	case err != nil || written < 1:
		return damaged("it has no version")
	case written > version:
		return sealed{}, &NewerError{Document: name, Version: written}
	}
	if len(fields) != 6 {
		return damaged("its first line is not of the right form")
	}
	s := sealed{name: name, version: written, sum: fields[5], packed: document[end+1:]}
	line := strings.Join(fields[:5], " ")
	switch s.length, err = strconv.Atoi(fields[4]); {
	case s.sum != checksum(line, s.packed):
		return damaged("its checksum is not that of its content")
	case fields[2] != name:
		return damaged("it was written under another name")
	case fields[3] != clusterUID:
		return sealed{}, &ClusterError{What: "the ledger's document " + name, Is: fields[3], Want: clusterUID}
	case err != nil || s.length < 0 || s.length > maxBody:
		return damaged("it is longer than any that is written")
	}
	return s, nil
}

// unpacker unpacks documents: it keeps what that takes room for.
type unpacker struct {
	flate  io.ReadCloser
	buffer bytes.Buffer
}

// body unpacks a document; it is valid until the next. The error is *DamagedError.
func (u *unpacker) body(s sealed) ([]byte, error) {
	packed := bytes.NewReader(s.packed)
	if u.flate == nil {
		u.flate = flate.NewReader(packed)
	} else if err := u.flate.(flate.Resetter).Reset(packed, nil); err != nil {
		return nil, err
	}
	// No more is unpacked than the line announces, and no more is set aside than
	// that, and than the packed bytes can give: DEFLATE makes of one at most 1032.
	u.buffer.Reset()
	u.buffer.Grow(min(s.length, 1032*len(s.packed)) + bytes.MinRead)
	n, err := io.Copy(&u.buffer, io.LimitReader(u.flate, int64(s.length)+1))
	if err != nil || n != int64(s.length) {
		return nil, &DamagedError{Document: s.name, Reason: "it does not unpack to what it announces"}
	}
	return u.buffer.Bytes(), nil
}
