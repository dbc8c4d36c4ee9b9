package store

import (
	"fmt"
	"regexp"
	"strings"
)

// A name is one to four segments. It has only characters that are allowed in every
// file system and in the names of Kubernetes objects, in lower case alone, so that no
// two names mean one file.
const (
	maxSegments   = 4
	maxNameLength = 200 // bytes
)

// Parquet is the ending of the names of documents in that format, and of their files
// and keys, so that other programs know them. All other documents are text.
const Parquet = ".parquet"

var (
	kindForm    = regexp.MustCompile(`^[a-z][a-z0-9_]{0,39}$`)
	segmentForm = regexp.MustCompile(`^[a-z0-9]([-_a-z0-9]{0,126}[a-z0-9])?$`)
)

// Validate says what is wrong with the key; nil where it is sound. Each backend calls
// it before it makes a path or an object's name of the key.
func (k Key) Validate() error {
	if err := k.Kind.Validate(); err != nil {
		return err
	}
	return ValidateName(strings.TrimSuffix(k.Name, Parquet))
}

// Validate says what is wrong with the kind; nil where it is sound.
func (k Kind) Validate() error {
	if !kindForm.MatchString(string(k)) || k == "locks" {
		return fmt.Errorf("%q is no kind of document", string(k))
	}
	return nil
}

// ValidateName says what is wrong with the name of a lock, or of a document without
// its ending; nil where it is sound.
func ValidateName(name string) error {
	segments := strings.Split(name, "/")
	if len(name) > maxNameLength || len(segments) > maxSegments {
		return fmt.Errorf("the name %.60q in the store is too long: at most %d bytes and %d parts divided by slashes", name, maxNameLength, maxSegments)
	}
	for _, s := range segments {
		if !segmentForm.MatchString(s) {
			return fmt.Errorf("%q cannot be a name in the store: each part between slashes must be lower-case letters, digits, - and _, and begin and end "+
				"with a letter or digit", name)
		}
	}
	return nil
}
