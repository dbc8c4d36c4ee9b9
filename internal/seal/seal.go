// Package seal guards documents against change: each holds one seal, which tells its
// form, its name and what it is about, and a checksum of all of it. What a seal that
// does not fit means is for those who keep such documents.
//
//	MAGIC VERSION NAME SUBJECT CHECKSUM
//
// CHECKSUM is the first half of the SHA-256 of the whole document, with zeros in
// the place of the checksum itself: no byte can change unseen.
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

// Form is what documents of one form are marked with.
type Form struct {
	Magic   string
	Version int
}

// NewerError says that a document is of a version that is not known here.
type NewerError struct{ Version int }

// Error names the version.
func (e *NewerError) Error() string { return fmt.Sprintf("it is of version %d", e.Version) }

// OlderError says that a document is of a version from before the first release, which
// is not read.
type OlderError struct{ Version int }

// Error names the version.
func (e *OlderError) Error() string {
	return fmt.Sprintf("its form is from before the first release: it is of version %d", e.Version)
}

// SubjectError says that a document is about something else.
type SubjectError struct{ Is string }

// Error names what it is about.
func (e *SubjectError) Error() string { return fmt.Sprintf("it is about %.80q", e.Is) }

// Line is the seal of a document that is being made, with no checksum yet. It goes
// into the document as it is.
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

// Close writes the checksum into a document that is otherwise whole, and returns it.
func (f Form) Close(name, subject string, data []byte) string {
	prefix := f.prefix(name, subject)
	at := bytes.LastIndex(data, []byte(prefix)) + len(prefix)
	sum := checksum(data, at)
	copy(data[at:], sum)
	return sum
}

// checksum is that of a document whose own stands somewhere.
func checksum(data []byte, at int) string {
	h := sha256.New()
	for _, part := range [][]byte{data[:at], noSum, data[at+sumLength:]} {
		_, _ = h.Write(part) // never fails
	}
	return hex.EncodeToString(h.Sum(nil)[:sumLength/2])
}

// Open judges a document by its seal, and returns its checksum. The error is
// *NewerError, *OlderError, *SubjectError, or says how it is damaged.
func (f Form) Open(name, subject string, data []byte) (string, error) {
	// What a document says stands before the seal.
	at := bytes.LastIndex(data, []byte(f.Magic+" "))
	switch {
	case len(data) == 0:
		return "", errors.New("it is empty")
	case at < 0:
		return "", fmt.Errorf("it is no document of a %s, or was cut short", f.subject())
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

// subject is what documents of this form are of: "ledger" of "gpupool-ledger".
func (f Form) subject() string { return f.Magic[strings.LastIndex(f.Magic, "-")+1:] }
