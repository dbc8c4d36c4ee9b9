package main

import (
	"context"
	"debug/buildinfo"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/bom"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
)

// platforms are those of .goreleaser.yml. Lint checks the licenses of each before a
// release does.
var platforms = []linked.Platform{
	{OS: "darwin", Arch: "amd64"}, {OS: "darwin", Arch: "arm64"},
	{OS: "freebsd", Arch: "amd64"}, {OS: "freebsd", Arch: "arm64"},
	{OS: "linux", Arch: "amd64"}, {OS: "linux", Arch: "arm64"},
	{OS: "windows", Arch: "amd64"}, {OS: "windows", Arch: "arm64"},
}

// documents writes, next to a binary, the licenses and the bill of materials of what the linker
// put into it.
func documents(ctx context.Context, dir, binary, version, commit, date string) error {
	at, err := time.Parse(time.RFC3339, date)
	switch {
	case err != nil:
		return err
	case version == "" || strings.HasPrefix(version, "v"):
		return fmt.Errorf("invalid version %q: give one without a v, such as 0.1.0", version)
	case len(commit) != 40:
		// GoReleaser makes up a commit if the repository has no remote.
		return fmt.Errorf("invalid commit %q: build in a clone of the repository", commit)
	}
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	platform := linked.PlatformOf(info)
	modules, err := linked.Modules(ctx, dir, platform)
	if err != nil {
		return fmt.Errorf("%s: %w", platform, err)
	}
	if err := linked.Check(info, modules); err != nil {
		return fmt.Errorf("%s: %w", binary, err)
	}
	materials, err := bom.Of(bom.Release{Version: version, Commit: commit, Time: at, Go: info.GoVersion, Platform: platform}, modules)
	if err != nil {
		return err
	}
	for name, content := range map[string]string{"THIRD_PARTY_LICENSES.txt": linked.Document(modules), "sbom.cdx.json": materials} {
		if err := os.WriteFile(filepath.Join(filepath.Dir(binary), name), []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}

// licenses prints what is linked on any platform, and under which license.
func licenses(ctx context.Context, dir string) error {
	seen := map[string]bool{}
	for _, p := range platforms {
		modules, err := linked.Modules(ctx, dir, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, m := range modules {
			if !seen[m.Path] {
				seen[m.Path] = true
				fmt.Printf("%s %s: %s\n", m.Path, m.Version, strings.Join(m.Licenses, ", "))
			}
		}
	}
	return nil
}
