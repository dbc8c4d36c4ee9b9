package main

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"fmt"
	"os/exec"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/size"
)

// sizes prints the modules in a binary with symbols that have a hundredth of its code.
func sizes(ctx context.Context, binary string) error {
	info, err := buildinfo.ReadFile(binary)
	if err != nil {
		return err
	}
	modules := []string{info.Main.Path}
	for _, m := range info.Deps {
		modules = append(modules, m.Path)
	}
	nm, err := exec.CommandContext(ctx, "go", "tool", "nm", "-size", binary).Output()
	if err != nil {
		return err
	}
	parts, err := size.Parts(bytes.NewReader(nm), modules)
	if err != nil {
		return err
	}
	code := 0
	for _, part := range parts {
		code += part.Code
	}
	fmt.Printf("%.1f MB of code, of it:\n", float64(code)/1e6)
	for _, part := range parts {
		if part.Code*100 >= code {
			fmt.Printf("  %5.1f MB %3d%%  %s\n", float64(part.Code)/1e6, part.Code*100/code, part.Module)
		}
	}
	return nil
}
