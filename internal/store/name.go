package store

import (
	"fmt"
	"regexp"
	"strings"
)

// A name has one to four segments. Its characters are allowed in every file system and in the names
// of Kubernetes objects. They are lower case, so that no two names mean one file.
const (
	maxSegments   = 4
	maxNameLength = 200 // bytes
)

// Parquet is the extension of the names of documents in that format, and of their files and keys,
// so that other programs recognize them. All other documents are text.
const Parquet = ".parquet"

var (
	kindForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	segmentForm = regexp.MustCompile(`^[a-z0-9]([-_a-z0-9]{0,126}[a-z0-9])?$`)
)

// Validate returns what is wrong with the key, or nil. Each backend calls it before it makes a path
// or an object name of the key.
func (k Key) Validate() error {
	if err := k.Kind.Validate(); err != nil {
		return err
	}
	return ValidateName(strings.TrimSuffix(k.Name, Parquet))
}

// Validate returns what is wrong with the kind, or nil.
func (k Kind) Validate() error {
	if !kindForm.MatchString(string(k)) || k == "locks" {
		return fmt.Errorf("invalid kind of document %q", string(k))
	}
	return nil
}

// ValidateName returns what is wrong with the name of a lock, or of a document without its
// extension, or nil.
func ValidateName(name string) error {
	segments := strings.Split(name, "/")
	if len(name) > maxNameLength || len(segments) > maxSegments {
		return fmt.Errorf("the name %.60q in the store is too long: at most %d bytes and %d parts divided by slashes", name, maxNameLength, maxSegments)
	}
	for _, s := range segments {
		if !segmentForm.MatchString(s) {
			return fmt.Errorf("invalid name in the store %q: parts between slashes have lower-case letters, digits, - and _ only, "+
				"and a letter or digit at both ends", name)
		}
	}
	return nil
}
