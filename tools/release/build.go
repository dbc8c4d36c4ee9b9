package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/archive"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/bom"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/image"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/source"
)

// project is what the registries' names of all files begin with.
const project = "terraform-provider-gpupool"

// build writes archives, manifest, sums and image into a new folder.
func build(ctx context.Context, s *source.Source, platforms []source.Platform, to string) error {
	if err := os.Mkdir(to, 0o755); err != nil {
		return err
	}
	binaries, err := os.MkdirTemp("", "gpupool-release-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(binaries) }()
	manifest, err := os.ReadFile(filepath.Join(s.Dir, "terraform-registry-manifest.json"))
	if err != nil {
		return err
	}
	named := filepath.Join(to, fmt.Sprintf("%s_%s_manifest.json", project, s.Version))
	if err := os.WriteFile(named, manifest, 0o644); err != nil {
		return err
	}
	written := []string{named}
	images := map[source.Platform]v1.Image{}
	for _, p := range platforms {
		binary := filepath.Join(binaries, p.OS+"_"+p.Arch)
		papers, err := compile(ctx, s, p, binary)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		path := filepath.Join(to, fmt.Sprintf("%s_%s_%s_%s.zip", project, s.Version, p.OS, p.Arch))
		program := archive.File{Name: executable(s, p), Path: binary, Mode: 0o755}
		if err := archive.Write(path, append(papers, program), s.Time); err != nil {
			return err
		}
		written = append(written, path)
		fmt.Println(path)
		if p.OS == "linux" {
			program.Name, program.Mode = "gpupool", 0o555
			if images[p], err = image.Of(s, p, append(papers, program)); err != nil {
				return err
			}
		}
	}
	sums, err := archive.Sums(written)
	if err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(to, fmt.Sprintf("%s_%s_SHA256SUMS", project, s.Version)), []byte(sums), 0o644); err != nil {
		return err
	}
	return writeImage(filepath.Join(to, "image"), images)
}

// compile builds the binary of a platform, and returns what travels with it: the
// licences and the bill of materials of what the linker says is in it.
func compile(ctx context.Context, s *source.Source, p source.Platform, to string) ([]archive.File, error) {
	modules, err := linked.Modules(ctx, s, p)
	if err != nil {
		return nil, err
	}
	if err := s.Build(ctx, p, to); err != nil {
		return nil, err
	}
	if err := linked.Check(to, modules); err != nil {
		return nil, err
	}
	materials, err := bom.Of(s, p, modules)
	if err != nil {
		return nil, err
	}
	return []archive.File{
		{Name: "LICENSE", Path: filepath.Join(s.Dir, "LICENSE"), Mode: 0o444},
		{Name: "THIRD_PARTY_LICENSES.txt", Content: linked.Document(modules), Mode: 0o444},
		{Name: "sbom.cdx.json", Content: materials, Mode: 0o444},
	}, nil
}

func writeImage(to string, images map[source.Platform]v1.Image) error {
	index, err := image.Index(images)
	if err != nil {
		return err
	}
	if err := image.Write(to, index); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err == nil {
		fmt.Println(to, digest)
	}
	return err
}

// executable is the name under which Terraform looks for a provider.
func executable(s *source.Source, p source.Platform) string {
	name := project + "_v" + s.Version
	if p.OS == "windows" {
		name += ".exe"
	}
	return name
}
