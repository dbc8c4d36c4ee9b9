package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// part is the rows of one cluster and day.
type part struct{ cluster, day string }

// noCluster is the partition of rows without a cluster.
const noCluster = "none"

// file is the file name of a part.
func (p part) file(called, source, format string) string {
	name := called
	cluster := p.cluster
	if cluster == "" {
		cluster, name = noCluster, called+"-"+source
	}
	return filepath.Join("cluster="+cluster, "day="+p.day, name+"."+format)
}

// sourceOf distinguishes the files of several stores without a cluster.
func sourceOf(place store.Store) string {
	l := place.Location()
	if l.Backend == store.Directory {
		if path, err := filepath.Abs(l.Path); err == nil {
			l.Path = path
		}
	}
	sum := sha256.Sum256([]byte(l.String()))
	return hex.EncodeToString(sum[:4])
}

// file merges newer rows into the file of a part. It is replaced as a whole at the end.
type file[T any] struct {
	*merger[T]
	path              string
	before, temporary *os.File
}

func (t table[T, R]) open(path, format string, replaced func(key string) bool) (f *file[T], err error) {
	f = &file[T]{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.abandon())
		}
	}()
	var next func() (entry[T], error)
	if f.before, err = os.Open(path); err == nil {
		var is fs.FileInfo
		if is, err = f.before.Stat(); err != nil {
			return f, err
		}
		if next, err = t.source(format, io.NewSectionReader(f.before, 0, is.Size())); err != nil {
			return f, f.left(err)
		}
	} else if f.before = nil; !errors.Is(err, fs.ErrNotExist) {
		return f, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // other users read it
		return f, err
	}
	if f.temporary, err = os.CreateTemp(filepath.Dir(path), ".export-*"); err != nil { // no file pattern matches it
		return f, err
	}
	to, err := t.sink(format, f.temporary)
	if err == nil {
		f.merger, err = newMerger(to, next, replaced)
	}
	return f, f.left(err)
}

// left adds to an error that the file is unchanged.
func (f *file[T]) left(err error) error {
	if errors.Is(err, errForm) {
		return fmt.Errorf("%s is unchanged: %w", f.path, err)
	}
	return err
}

// replace finishes the file and moves it to its place.
func (f *file[T]) replace() error {
	err := f.left(f.finish())
	if err == nil {
		err = f.temporary.Chmod(0o644) //nolint:gosec // as above
	}
	if err == nil {
		err = f.temporary.Sync()
	}
	if err = errors.Join(err, f.close()); err == nil {
		err = os.Rename(f.temporary.Name(), f.path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(f.temporary.Name()))
	}
	return err
}

// abandon removes the temporary file.
func (f *file[T]) abandon() error {
	err := f.close()
	if f.temporary != nil {
		err = errors.Join(err, os.Remove(f.temporary.Name()))
	}
	return err
}

func (f *file[T]) close() error {
	var errs []error
	for _, opened := range []*os.File{f.before, f.temporary} {
		if opened != nil {
			errs = append(errs, opened.Close())
		}
	}
	return errors.Join(errs...)
}
