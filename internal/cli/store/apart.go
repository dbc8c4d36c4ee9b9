package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	stored "github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// apart says why a store can't be moved to a directory: it is the store's own, by another
// path, or inside of it. It is nil if the two are apart.
func apart(from, to stored.Location) error {
	if from.Backend != stored.Directory || to.Backend != stored.Directory {
		return nil
	}
	store, err := os.Stat(from.Path)
	if err != nil {
		return err
	}
	target, err := existing(to.Path)
	if err != nil {
		return err
	}
	if there, err := os.Stat(to.Path); err == nil && os.SameFile(there, store) {
		return fmt.Errorf("both are the directory %s: name another place to move the store to", target)
	}
	for dir := target; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if os.SameFile(info, store) {
			return fmt.Errorf("%s is inside of the store %s: name a place outside of it", to.Path, from)
		}
		if dir == filepath.Dir(dir) {
			return nil
		}
	}
}

// existing is the part of a path that exists, without symbolic links.
func existing(path string) (string, error) {
	resolved, err := filepath.EvalSymlinks(path)
	if parent := filepath.Dir(path); errors.Is(err, fs.ErrNotExist) && parent != path {
		return existing(parent)
	}
	return resolved, err
}
