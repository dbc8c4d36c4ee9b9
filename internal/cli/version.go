package cli

import (
	"context"
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli/process"
)

type versionOptions struct {
	session *process.Session
	output  string
}

func newVersion(s *process.Session) *cobra.Command {
	o := &versionOptions{session: s}
	cmd := &cobra.Command{
		Use:     "version",
		Short:   "Print the version",
		Example: "  gpupool version\n  gpupool version -o json",
		Args:    cobra.NoArgs,
		RunE:    s.Run(o.run),
	}
	process.OutputVar(cmd, &o.output)
	return cmd
}

// versionReport is the JSON of version.
type versionReport struct {
	Version  string `json:"version"`
	Commit   string `json:"commit,omitempty"`
	Go       string `json:"go"`
	Platform string `json:"platform"`
}

func (o *versionOptions) run(context.Context, []string) error {
	b := o.session.Build
	if o.output == process.AsJSON {
		return o.session.PutJSON(versionReport{
			Version: b.Version, Commit: b.Commit, Go: runtime.Version(), Platform: runtime.GOOS + "/" + runtime.GOARCH,
		}, true)
	}
	return o.session.Put([]byte(versionText(b)))
}

func versionText(b Build) string {
	text := "gpupool " + b.Version
	if b.Commit != "" {
		text += " (" + b.Commit + ")"
	}
	return fmt.Sprintf("%s, %s %s/%s\n", text, runtime.Version(), runtime.GOOS, runtime.GOARCH)
}
