// Package archive writes the zip archives that the registries of Terraform and
// OpenTofu take, and their sums. The same files give the same bytes.
package archive

import (
	"archive/zip"
	"compress/flate"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// File is one in an archive: what is at a path, or the content.
type File struct {
	Name    string
	Path    string
	Content string
	Mode    os.FileMode
}

// Write writes an archive of files, in their order, all of the time given.
func Write(to string, files []File, at time.Time) (err error) {
	out, err := os.Create(to)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, out.Close()) }()
	z := zip.NewWriter(out)
	z.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, flate.BestCompression) })
	for _, f := range files {
		if err := add(z, f, at); err != nil {
			return fmt.Errorf("%s, %s: %w", filepath.Base(to), f.Name, err)
		}
	}
	return z.Close()
}

func add(z *zip.Writer, f File, at time.Time) error {
	header := &zip.FileHeader{Name: f.Name, Method: zip.Deflate, Modified: at.UTC()}
	header.SetMode(f.Mode)
	w, err := z.CreateHeader(header)
	if err != nil {
		return err
	}
	if f.Path == "" {
		_, err = io.WriteString(w, f.Content)
		return err
	}
	in, err := os.Open(f.Path)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // nothing was written
	_, err = io.Copy(w, in)
	return err
}

// Sums are the lines of a SHA256SUMS file, by the files' names.
func Sums(paths []string) (string, error) {
	lines := make([]string, 0, len(paths))
	for _, path := range paths {
		in, err := os.Open(path)
		if err != nil {
			return "", err
		}
		sum := sha256.New()
		_, err = io.Copy(sum, in)
		if err := errors.Join(err, in.Close()); err != nil {
			return "", err
		}
		lines = append(lines, fmt.Sprintf("%x  %s\n", sum.Sum(nil), filepath.Base(path)))
	}
	slices.SortFunc(lines, func(a, b string) int { return strings.Compare(a[64:], b[64:]) })
	return strings.Join(lines, ""), nil
}
