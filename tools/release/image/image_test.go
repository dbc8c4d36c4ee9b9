package image

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"crypto/x509"
	"errors"
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/bom"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
)

// archives are those of a release for two platforms, with text in the place of the
// binary.
func archives(t *testing.T) (dist string) {
	t.Helper()
	dist = t.TempDir()
	for _, arch := range []string{"amd64", "arm64"} {
		materials, err := bom.Of(bom.Release{
			Version: "0.1.0", Commit: "0123456789abcdef", Time: time.Date(2026, 11, 22, 18, 0, 0, 0, time.UTC),
			Platform: linked.Platform{OS: "linux", Arch: arch},
		}, nil)
		if err != nil {
			t.Fatal(err)
		}
		var content bytes.Buffer
		w := zip.NewWriter(&content)
		for _, of := range [][2]string{
			{"LICENSE", "as you like"}, {"THIRD_PARTY_LICENSES.txt", "as they like"}, {"sbom.cdx.json", materials},
			{"terraform-provider-gpupool_v0.1.0", arch},
		} {
			file, err := w.Create(of[0])
			if err == nil {
				_, err = io.WriteString(file, of[1])
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dist, "a_0.1.0_linux_"+arch+".zip"), content.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dist
}

func built(t *testing.T) v1.ImageIndex {
	t.Helper()
	index, err := OfArchives(archives(t))
	if err != nil {
		t.Fatal(err)
	}
	return index
}

func TestAnArchiveWithoutItsLicensesMakesNoImage(t *testing.T) {
	t.Parallel()
	dist := t.TempDir()
	if err := os.WriteFile(filepath.Join(dist, "a_0.1.0_linux_amd64.zip"), []byte("PK\x05\x06"+strings.Repeat("\x00", 18)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := OfArchives(dist); err == nil || !strings.Contains(err.Error(), "0 files") {
		t.Errorf("an empty archive: %v", err)
	}
}

func TestImage(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "image")
	if err := Write(dir, built(t)); err != nil {
		t.Fatal(err)
	}
	index, err := Read(dir)
	if err != nil {
		t.Fatal(err)
	}
	if err := validate.Index(index); err != nil {
		t.Error(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil || len(manifest.Manifests) != 2 {
		t.Fatal(manifest, err)
	}
	for _, of := range manifest.Manifests {
		img, err := index.Image(of.Digest)
		if err != nil {
			t.Fatal(err)
		}
		config, err := img.ConfigFile()
		if err != nil || config.Architecture != of.Platform.Architecture || config.Config.User != UserID {
			t.Errorf("%+v, %v", config, err)
		}
		files := map[string]string{}
		for r := tar.NewReader(mutate.Extract(img)); ; {
			header, err := r.Next()
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			content, _ := io.ReadAll(r)
			files[header.Name] = string(content)
			if header.Uid != 0 || header.Mode&0o022 != 0 {
				t.Errorf("%s is of user %d, with mode %o: somebody else can write it", header.Name, header.Uid, header.Mode)
			}
		}
		if files["gpupool"] != of.Platform.Architecture || files["LICENSE"] == "" || len(files) != 8 {
			t.Errorf("%s has %d files and folders: %q", of.Platform, len(files), files["gpupool"])
		}
		if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM([]byte(files["etc/ssl/certs/ca-certificates.crt"])) {
			t.Error("Go reads no root of TLS from it")
		}
	}
}

func TestRootsAreMany(t *testing.T) {
	t.Parallel()
	if n := strings.Count(Roots(), "BEGIN CERTIFICATE"); n < 80 {
		t.Errorf("%d roots of TLS", n)
	}
}

func TestTheSameFilesGiveTheSameDigest(t *testing.T) {
	t.Parallel()
	first, err := built(t).Digest()
	if err != nil {
		t.Fatal(err)
	}
	if second, err := built(t).Digest(); err != nil || first != second {
		t.Errorf("%s, then %s: %v", first, second, err)
	}
}

func TestPush(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	repository := strings.TrimPrefix(server.URL, "http://") + "/gpupool/gpupool"

	index := built(t)
	pushed, err := Push(t.Context(), index, repository+":0.1.0", repository+":0.1")
	if err != nil {
		t.Fatal(err)
	}
	want, _ := built(t).Digest()
	if pushed != repository+"@"+want.String() {
		t.Errorf("pushed %s, not %s", pushed, want)
	}
	for _, tag := range []string{"0.1.0", "0.1"} {
		ref, _ := name.ParseReference(repository + ":" + tag)
		got, err := remote.Index(ref)
		if err != nil {
			t.Fatal(err)
		}
		if digest, err := got.Digest(); err != nil || digest != want {
			t.Errorf("%s is %s: %v", tag, digest, err)
		}
	}
	if _, err := Push(t.Context(), index, repository); err == nil {
		t.Error("pushed without a tag, to whatever is the latest")
	}
}
