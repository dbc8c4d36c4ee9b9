package store

import (
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
)

// Backend is a kind of store.
type Backend string

// The backends.
const (
	Directory  Backend = "directory"
	Kubernetes Backend = "kubernetes"
)

// EnvironmentVariable names the store if no argument does.
const EnvironmentVariable = "GPUPOOL_STORE"

// defaultPath is relative to the working directory.
const defaultPath = ".gpupool"

// Location is the location of a store.
type Location struct {
	Backend   Backend
	Path      string // of a directory
	Namespace string // of a cluster
}

// Absolute returns the location with the absolute path of a directory, which does not depend on the
// working directory.
func (l Location) Absolute() Location {
	if l.Backend != Directory {
		return l
	}
	if path, err := filepath.Abs(l.Path); err == nil {
		l.Path = path
	}
	return l
}

// namespaceForm is an RFC 1123 label, as Kubernetes requires of a namespace.
var namespaceForm = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$`)

// String returns the location in the form of the flag --store.
func (l Location) String() string {
	if l.Backend == Kubernetes {
		return string(Kubernetes) + ":" + l.Namespace
	}
	return string(l.Backend) + ":" + l.Path
}

// Parse parses "directory:DIR" or "kubernetes:NAMESPACE".
func Parse(s string) (Location, error) {
	backend, rest, found := strings.Cut(s, ":")
	switch {
	case !found:
		return Location{}, fmt.Errorf("invalid store %q: use directory:%s or kubernetes:NAMESPACE", s, orPlaceholder(s, "DIR"))
	case Backend(backend) == Directory:
		return InDirectory(rest)
	case Backend(backend) == Kubernetes:
		return InNamespace(rest)
	}
	return Location{}, fmt.Errorf("the store %q is of an unknown kind %q: a store is directory:DIR or kubernetes:NAMESPACE", s, backend)
}

// InDirectory returns the location of a store in a directory.
func InDirectory(path string) (Location, error) {
	if path == "" {
		return Location{}, fmt.Errorf("the store %q lacks the path of its directory: write directory:DIR", "directory:")
	}
	if path == "~" || strings.HasPrefix(path, "~/") {
		return Location{}, fmt.Errorf("the store's path %q begins with ~, which nothing expands here: write directory:$HOME%s", path, path[1:])
	}
	if strings.ContainsRune(path, 0) {
		return Location{}, fmt.Errorf("the store's path %q contains a NUL byte", path)
	}
	return Location{Backend: Directory, Path: filepath.Clean(path)}, nil
}

// InNamespace returns the location of a store in a Kubernetes namespace.
func InNamespace(namespace string) (Location, error) {
	if !namespaceForm.MatchString(namespace) {
		return Location{}, fmt.Errorf("%q cannot be a Kubernetes namespace: write kubernetes:NAMESPACE, with lower-case letters, digits and -", namespace)
	}
	return Location{Backend: Kubernetes, Namespace: namespace}, nil
}

// Resolve returns the store's location: the argument, else the environment variable GPUPOOL_STORE,
// else .gpupool in the working directory.
func Resolve(argument string, getenv func(string) string) (Location, error) {
	if argument != "" {
		return Parse(argument)
	}
	if value := getenv(EnvironmentVariable); value != "" {
		l, err := Parse(value)
		if err != nil {
			return Location{}, fmt.Errorf("%s: %w", EnvironmentVariable, err)
		}
		return l, nil
	}
	return InDirectory(defaultPath)
}

// InJob reports whether the store is in the working directory of a CI job, which is deleted when the job ends.
func (l Location) InJob(getenv func(string) string) bool {
	return getenv("CI") == "true" && l.Backend == Directory && !filepath.IsAbs(l.Path)
}

func orPlaceholder(s, placeholder string) string {
	if s == "" {
		return placeholder
	}
	return s
}
