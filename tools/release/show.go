package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/linked"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/size"
	"github.com/gpupool/terraform-provider-gpupool/tools/release/source"
)

// licences prints what is linked on any platform, and under which licence.
func licences(ctx context.Context, dir string, platforms []source.Platform) error {
	s, err := source.Describe(dir)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, p := range platforms {
		modules, err := linked.Modules(ctx, s, p)
		if err != nil {
			return fmt.Errorf("%s: %w", p, err)
		}
		for _, m := range modules {
			if !seen[m.Path] {
				seen[m.Path] = true
				fmt.Printf("%s %s: %s\n", m.Path, m.Version, strings.Join(m.Licences, ", "))
			}
		}
	}
	return nil
}

// sizes prints the parts of a binary as it is released for Linux, of those that have
// a hundredth of its code.
func sizes(ctx context.Context, dir string) error {
	s, err := source.Describe(dir)
	if err != nil {
		return err
	}
	p := source.Platform{OS: "linux", Arch: "amd64"}
	listed, err := s.List(ctx, p, "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	if err != nil {
		return err
	}
	binaries, err := os.MkdirTemp("", "gpupool-size-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(binaries) }()
	released, symbols := filepath.Join(binaries, "released"), filepath.Join(binaries, "symbols")
	if err := s.Build(ctx, p, released); err != nil {
		return err
	}
	if err := s.BuildWithSymbols(ctx, p, symbols); err != nil {
		return err
	}
	nm, err := exec.CommandContext(ctx, "go", "tool", "nm", "-size", symbols).Output()
	if err != nil {
		return err
	}
	parts, err := size.Parts(strings.NewReader(string(nm)), strings.Fields(listed))
	if err != nil {
		return err
	}
	code := 0
	for _, part := range parts {
		code += part.Code
	}
	for _, of := range []struct{ name, path string }{{"released", released}, {"with symbols", symbols}} {
		info, err := os.Stat(of.path)
		if err != nil {
			return err
		}
		fmt.Printf("%.1f MB %s\n", float64(info.Size())/1e6, of.name)
	}
	fmt.Printf("%.1f MB of code, of it:\n", float64(code)/1e6)
	for _, part := range parts {
		if part.Code*100 >= code {
			fmt.Printf("  %5.1f MB %3d%%  %s\n", float64(part.Code)/1e6, part.Code*100/code, part.Module)
		}
	}
	return nil
}
