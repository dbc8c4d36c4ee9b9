package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	stored "github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// apart is an error if the target of a move is the directory of the store, by any path, or
// inside of it.
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
		return fmt.Errorf("FROM and TO are both the directory %s: use another TO", target)
	}
	for dir := target; ; dir = filepath.Dir(dir) {
		info, err := os.Stat(dir)
		if err != nil {
			return err
		}
		if os.SameFile(info, store) {
			return fmt.Errorf("%s is inside of the store %s: use a TO outside of it", to.Path, from)
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
