// Terraform-provider-gpupool is two programs in one file: the Terraform provider
// gpupool/gpupool, which Terraform starts by itself, and the command line
// gpupool, for people and cron.
package main

import (
	"context"
	"fmt"
	"os"
	"runtime/debug"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider"
)

const address = "registry.terraform.io/gpupool/gpupool"

// version is set by the linker.
var version = "dev"

func main() {
	build := thisBuild()
	serve, debugging := asProvider(os.Args[1:], os.Getenv("TF_PLUGIN_MAGIC_COOKIE"))
	if !serve {
		os.Exit(cli.Run(cli.ThisProcess(build)))
	}
	// Standard output belongs to the protocol.
	err := providerserver.Serve(context.Background(), provider.New(build.Version), providerserver.ServeOpts{
		Address: address, Debug: debugging,
	})
	if err != nil {
		fmt.Fprintf(os.Stderr, "gpupool: the provider can't be served: %v\n", err)
		os.Exit(1)
	}
}

// asProvider says whether Terraform started the program, or a developer who
// debugs the provider. Terraform gives no arguments: with some it is the command
// line, started by another provider (data "external") that handed its
// environment on.
func asProvider(args []string, cookie string) (serve, debugging bool) {
	if len(args) == 0 {
		return cookie != "", false
	}
	name := strings.TrimPrefix(args[0], "-")
	debugging = len(args) == 1 && (name == "-debug" || name == "debug") && strings.HasPrefix(args[0], "-")
	return debugging, debugging
}

// thisBuild says which version this is: the linker's, else that of the module
// which go install fetched.
func thisBuild() cli.Build {
	build := cli.Build{Version: version}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return build
	}
	if v := info.Main.Version; build.Version == "dev" && v != "" && v != "(devel)" {
		build.Version = strings.TrimPrefix(v, "v")
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" {
			build.Commit = setting.Value[:min(12, len(setting.Value))]
		}
	}
	return build
}
