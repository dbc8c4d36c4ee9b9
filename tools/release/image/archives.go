package image

import (
	"archive/zip"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/bom"
)

// File is one that is laid into an image.
type File struct {
	Name    string
	Content string
	Mode    int64
}

// OfArchives is one image for the platforms of the Linux archives in a folder, in the
// order of their names.
func OfArchives(dist string) (v1.ImageIndex, error) {
	archives, err := filepath.Glob(filepath.Join(dist, "*_linux_*.zip"))
	if err != nil {
		return nil, err
	}
	if len(archives) == 0 {
		return nil, fmt.Errorf("%s has no archive for linux", dist)
	}
	index := mutate.IndexMediaType(empty.Index, types.OCIImageIndex)
	for _, path := range archives {
		img, err := ofArchive(path)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		config, err := img.ConfigFile()
		if err != nil {
			return nil, err
		}
		index = mutate.AppendManifests(index, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{
			Platform: &v1.Platform{OS: config.OS, Architecture: config.Architecture, Variant: config.Variant},
		}})
	}
	return index, nil
}

// ofArchive returns the image with the files of an archive, whose binary is called gpupool.
func ofArchive(path string) (v1.Image, error) {
	archive, err := zip.OpenReader(path)
	if err != nil {
		return nil, err
	}
	defer func() { _ = archive.Close() }() // nothing was written
	files := make([]File, 0, len(archive.File))
	materials := ""
	for _, of := range archive.File {
		content, err := read(of)
		if err != nil {
			return nil, err
		}
		file := File{Name: of.Name, Content: content, Mode: 0o444}
		if strings.HasPrefix(of.Name, "terraform-provider-gpupool_v") {
			file.Name, file.Mode = "gpupool", 0o555
		}
		if of.Name == "sbom.cdx.json" {
			materials = content
		}
		files = append(files, file)
	}
	if len(files) != 4 {
		return nil, fmt.Errorf("it has %d files, not a binary, two with licenses and a bill of materials", len(files))
	}
	release, err := bom.ReleaseOf(materials)
	if err != nil {
		return nil, err
	}
	return Of(release, files)
}

func read(of *zip.File) (string, error) {
	in, err := of.Open()
	if err != nil {
		return "", err
	}
	defer func() { _ = in.Close() }() // nothing was written
	content, err := io.ReadAll(in)
	return string(content), err
}
