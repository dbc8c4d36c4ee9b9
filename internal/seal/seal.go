// Package seal protects documents against change. Each has one seal, which names its format, its
// name and its subject, and has a checksum of the whole document. Packages that store such
// documents decide what an invalid seal means.
//
//	MAGIC VERSION NAME SUBJECT CHECKSUM
//
// CHECKSUM is the first half of the SHA-256 of the whole document, with zeros in its place. No byte
// can change unnoticed.
package seal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

const (
	sumLength = sha256.Size // hexadecimal digits of half of it
	maxSeal   = 1 << 10
	maxText   = 253
)

var noSum = bytes.Repeat([]byte{'0'}, sumLength)

// Form is the format of a seal.
type Form struct {
	Magic   string
	Version int
}

// NewerError reports a document of an unknown version.
type NewerError struct{ Version int }

// Error names the version.
func (e *NewerError) Error() string { return fmt.Sprintf("it is of version %d", e.Version) }

// OlderError reports a document of a version from before the first release, which cannot be read.
type OlderError struct{ Version int }

// Error names the version.
func (e *OlderError) Error() string {
	return fmt.Sprintf("its form is from before the first release: it is of version %d", e.Version)
}

// SubjectError reports a document of another subject.
type SubjectError struct{ Is string }

// Error names the subject of the document.
func (e *SubjectError) Error() string { return fmt.Sprintf("it is about %.80q", e.Is) }

// Line returns the seal of a new document, without its checksum. The document must contain it
// unchanged.
func (f Form) Line(name, subject string) (string, error) {
	odd := func(c rune) bool { return c <= ' ' || c > '~' || strings.ContainsRune(`"\<>&`, c) }
	if subject == "" || len(subject) > maxText || strings.ContainsFunc(subject, odd) {
		return "", &SubjectError{Is: subject}
	}
	return f.prefix(name, subject) + string(noSum), nil
}

func (f Form) prefix(name, subject string) string {
	return fmt.Sprintf("%s %d %s %s ", f.Magic, f.Version, name, subject)
}

// Close writes the checksum into a document that is otherwise complete, and returns it.
func (f Form) Close(name, subject string, data []byte) string {
	prefix := f.prefix(name, subject)
	at := bytes.LastIndex(data, []byte(prefix)) + len(prefix)
	sum := checksum(data, at)
	copy(data[at:], sum)
	return sum
}

func checksum(data []byte, at int) string {
	h := sha256.New()
	for _, part := range [][]byte{data[:at], noSum, data[at+sumLength:]} {
		_, _ = h.Write(part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:sumLength/2])
}

// Open checks the seal of a document, and returns its checksum. The error is *NewerError,
// *OlderError, *SubjectError, or describes the damage.
func (f Form) Open(name, subject string, data []byte) (string, error) {
	// The seal is after the content of a document.
	at := bytes.LastIndex(data, []byte(f.Magic+" "))
	switch {
	case len(data) == 0:
		return "", errors.New("it is empty")
	case at < 0:
		return "", fmt.Errorf("it is not a document of a %s, or was cut short", f.subject())
	}
	fields := strings.SplitN(string(data[at:min(len(data), at+maxSeal)]), " ", 5)
	written, err := strconv.Atoi(fields[1])
	switch {
	case err != nil || written < 1:
		return "", errors.New("it has no version")
	case written > f.Version:
		return "", &NewerError{Version: written}
	case written < f.Version:
		return "", &OlderError{Version: written}
	case len(fields) < 5 || len(fields[4]) < sumLength:
		return "", errors.New("its seal is not whole")
	}
	sumAt := at + len(strings.Join(fields[:4], " ")) + 1
	sum := string(data[sumAt : sumAt+sumLength])
	switch {
	case sum != checksum(data, sumAt):
		return "", errors.New("its checksum is not that of its content")
	case fields[2] != name:
		return "", errors.New("it was written under another name")
	case fields[3] != subject:
		return "", &SubjectError{Is: fields[3]}
	}
	return sum, nil
}

// subject returns the subject of this form: "ledger" for "gpupool-ledger".
func (f Form) subject() string { return f.Magic[strings.LastIndex(f.Magic, "-")+1:] }
