package image

import (
	"context"
	"fmt"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Write lays an image into a new folder, in the OCI's layout.
func Write(dir string, index v1.ImageIndex) error {
	path, err := layout.Write(dir, empty.Index)
	if err != nil {
		return err
	}
	return path.AppendIndex(index)
}

// Read is the image in such a folder.
func Read(dir string) (v1.ImageIndex, error) {
	outer, err := layout.ImageIndexFromPath(dir)
	if err != nil {
		return nil, err
	}
	manifest, err := outer.IndexManifest()
	if err != nil {
		return nil, err
	}
	if len(manifest.Manifests) != 1 {
		return nil, fmt.Errorf("%s holds %d images, not one", dir, len(manifest.Manifests))
	}
	return outer.ImageIndex(manifest.Manifests[0].Digest)
}

// Push pushes an image by its digest, and under tags such as
// registry.example.com/gpupool:1.0, by the credentials that docker login left. It
// returns the name by the digest.
func Push(ctx context.Context, index v1.ImageIndex, tags ...string) (string, error) {
	digest, err := index.Digest()
	if err != nil {
		return "", err
	}
	options := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain)}
	pushed := ""
	for _, text := range tags {
		tag, err := name.NewTag(text, name.StrictValidation)
		if err != nil {
			return "", err
		}
		byDigest := tag.Digest(digest.String())
		if err := remote.WriteIndex(byDigest, index, options...); err != nil {
			return "", fmt.Errorf("%s: %w", byDigest, err)
		}
		if err := remote.Tag(tag, index, options...); err != nil {
			return "", fmt.Errorf("%s: %w", tag, err)
		}
		pushed = byDigest.String()
	}
	return pushed, nil
}
