package archive

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"
)

func TestTheSameFilesGiveTheSameBytes(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC)
	var written [][]byte
	for n, zone := range []*time.Location{time.UTC, time.FixedZone("elsewhere", 8*60*60)} {
		program := filepath.Join(t.TempDir(), fmt.Sprint("program", n))
		if err := os.WriteFile(program, []byte("\x7fELF"), 0o600); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(t.TempDir(), "a.zip")
		files := []File{{Name: "LICENSE", Content: "as you like", Mode: 0o444}, {Name: "terraform-provider-gpupool_v0.1.0", Path: program, Mode: 0o755}}
		if err := Write(path, files, at.In(zone)); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		written = append(written, content)
	}
	if !bytes.Equal(written[0], written[1]) {
		t.Error("two archives of the same files differ")
	}
	z, err := zip.NewReader(bytes.NewReader(written[0]), int64(len(written[0])))
	if err != nil {
		t.Fatal(err)
	}
	if len(z.File) != 2 || z.File[1].Mode() != 0o755 || !z.File[1].Modified.Equal(at) {
		t.Errorf("%+v", z.File)
	}
	in, err := z.File[1].Open()
	if err != nil {
		t.Fatal(err)
	}
	if content, err := io.ReadAll(in); err != nil || string(content) != "\x7fELF" {
		t.Errorf("%q, %v", content, err)
	}
}

func TestSums(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"b.zip": "b", "a.zip": "a"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	sums, err := Sums([]string{filepath.Join(dir, "b.zip"), filepath.Join(dir, "a.zip")})
	if want := fmt.Sprintf("%x  a.zip\n%x  b.zip\n", sha256.Sum256([]byte("a")), sha256.Sum256([]byte("b"))); err != nil || sums != want {
		t.Errorf("%q, not %q: %v", sums, want, err)
	}
}
