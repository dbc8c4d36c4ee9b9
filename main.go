// Terraform-provider-gpupool is two programs in one file: the Terraform provider
// gpupool/gpupool, which Terraform starts, and the CLI gpupool, for people and cron.
package main

import (
	"fmt"
	"os"
	_ "time/tzdata" // budgets' calendars, where the system has no time zones: an image from scratch, Windows

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
)

const address = "registry.terraform.io/gpupool/gpupool"

// Both are set by the linker.
var (
	version = "dev"
	commit  string
)

func main() {
	build := cli.NewBuild(version, commit)
	serve, debug := cli.IsProvider(os.Args[1:], os.Getenv("TF_PLUGIN_MAGIC_COOKIE"))
	if !serve {
		os.Exit(cli.Run(cli.ThisProcess(build)))
	}
	// Standard output belongs to the plugin protocol.
	if err := provider.Serve(build.Version, address, debug); err != nil {
		fmt.Fprintf(os.Stderr, "gpupool: the provider cannot be served: %v\n", err)
		os.Exit(1)
	}
}
