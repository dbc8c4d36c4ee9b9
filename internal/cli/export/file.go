package export

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
)

// part is the rows of one cluster and day.
type part struct{ cluster, day string }

// noCluster stands for what had to do with none.
const noCluster = "none"

// file is the name of a part's file.
func (p part) file(called, source, format string) string {
	name := called
	cluster := p.cluster
	if cluster == "" {
		cluster, name = noCluster, called+"-"+source
	}
	return filepath.Join("cluster="+cluster, "day="+p.day, name+"."+format)
}

// sourceOf tells the files of stores without a cluster apart.
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

// write brings a file up to date: rows that are in it already, and those that are
// given, which are newer. It is replaced whole.
func (t table[T]) write(dir, name, format string, rows []T) (err error) {
	path := filepath.Join(dir, name)
	before, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	data, err := t.encode(format, rows, before)
	if err != nil {
		return fmt.Errorf("%s was left as it is: %w", path, err)
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // others are to read it
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), ".export-*") // which no pattern of files finds
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(temporary.Name()))
		}
	}()
	_, err = temporary.Write(data)
	if err == nil {
		err = temporary.Chmod(0o644) //nolint:gosec // as above
	}
	if err == nil {
		err = temporary.Sync()
	}
	if err = errors.Join(err, temporary.Close()); err != nil {
		return err
	}
	return os.Rename(temporary.Name(), path)
}
