package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
	"github.com/gpupool/terraform-provider-gpupool/internal/cli/terminal"
)

func newVersion(s *process.Session) *cobra.Command {
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  # Version, commit and platform\n  gpupool version\n  gpupool version -o json",
		Args:    cobra.NoArgs,
		RunE: s.Command(func(context.Context, []string) error {
			b := s.Build
			return s.Print(versionReport{
				Version: b.Version, Commit: b.Commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
			}, func(terminal.Style) string { return versionText(b) })
		}),
	}
	s.OutputFlag(cmd)
	return cmd
}

// versionReport is the JSON of version. It contains the build.
type versionReport struct {
	// The version.
	Version string `json:"version"`
	// The commit of the build.
	Commit string `json:"commit,omitempty"`
	// The Go version.
	Go string `json:"go"`
	// The operating system and architecture.
	Platform string `json:"platform"`
}

func versionText(b Build) string {
	text := "gpupool " + b.Version
	if b.Commit != "" {
		text += " (" + b.Commit + ")"
	}
	return fmt.Sprintf("%s, %s %s/%s\n", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
