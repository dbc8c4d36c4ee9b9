// Package image makes the image: the files of an archive and the TLS root certificates
// on an empty base, for a user without rights. The same files give the same digest, so
// an image is known before it is pushed.
package image

import (
	"archive/tar"
	"bytes"
	"encoding/pem"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"golang.org/x/crypto/x509roots/fallback/bundle"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/bom"
)

// UserID is a numeric user ID, so that Kubernetes can check that it is not root.
const UserID = "65532:65532"

// Of is the image of a release for one platform. The files are laid into its root.
func Of(r bom.Release, files []File) (v1.Image, error) {
	files = append([]File{{Name: "etc/ssl/certs/ca-certificates.crt", Content: Roots(), Mode: 0o444}}, files...)
	// Of the OCI's types before anything else: layers take theirs from the manifest.
	base := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	layer, err := layerOf(files, r.Time)
	if err != nil {
		return nil, err
	}
	img, err := mutate.AppendLayers(base, layer)
	if err != nil {
		return nil, err
	}
	return mutate.ConfigFile(img, configOf(r, img))
}

func configOf(r bom.Release, img v1.Image) *v1.ConfigFile {
	config, _ := img.ConfigFile() // of an image in memory
	config = config.DeepCopy()
	config.OS, config.Architecture = r.Platform.OS, r.Platform.Arch
	if r.Platform.Arch == "arm64" {
		config.Variant = "v8"
	}
	config.Created = v1.Time{Time: r.Time}
	config.History = []v1.History{{Created: config.Created, CreatedBy: "tools/release"}}
	config.Config = v1.Config{
		User:       UserID,
		Entrypoint: []string{"/gpupool"},
		WorkingDir: "/",
		Labels: map[string]string{
			"org.opencontainers.image.title":    "gpupool",
			"org.opencontainers.image.source":   "https://github.com/gpupool/terraform-provider-gpupool",
			"org.opencontainers.image.version":  r.Version,
			"org.opencontainers.image.revision": r.Commit,
			"org.opencontainers.image.created":  r.Time.Format(time.RFC3339),
			"org.opencontainers.image.licenses": "MPL-2.0",
		},
	}
	return config
}

// layerOf contains files that belong to root and are read-only, with their parent folders.
func layerOf(files []File, at time.Time) (v1.Layer, error) {
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	made := map[string]bool{}
	for _, f := range files {
		for n, c := range f.Name {
			if dir := f.Name[:n]; c == '/' && !made[dir] {
				made[dir] = true
				if err := w.WriteHeader(&tar.Header{Typeflag: tar.TypeDir, Name: dir + "/", Mode: 0o755, ModTime: at, Format: tar.FormatPAX}); err != nil {
					return nil, err
				}
			}
		}
		if err := w.WriteHeader(&tar.Header{
			Typeflag: tar.TypeReg, Name: f.Name, Mode: f.Mode, Size: int64(len(f.Content)), ModTime: at, Format: tar.FormatPAX,
		}); err != nil {
			return nil, err
		}
		if _, err := io.WriteString(w, f.Content); err != nil {
			return nil, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressedCaching)
}

// Roots are the certificates that Mozilla trusts for TLS, as PEM. A file cannot express
// conditions, so those that are trusted conditionally are omitted.
func Roots() string {
	var b bytes.Buffer
	for root := range bundle.Roots() {
		if root.Constraint == nil {
			_ = pem.Encode(&b, &pem.Block{Type: "CERTIFICATE", Bytes: root.Certificate}) // into memory
		}
	}
	return b.String()
}
