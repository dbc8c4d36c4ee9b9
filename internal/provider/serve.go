package provider

import (
	"context"
	"os"
	"runtime/debug"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/gpupool/terraform-provider-gpupool/internal/provider/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/shortcut"
	"github.com/gpupool/terraform-provider-gpupool/internal/provider/spotpool"
)

// gcPercent lets the heap grow to five times its live part before it is collected. A
// plan of many pools makes much short-lived garbage and little else, and the
// collector would take a fifth of its time.
const gcPercent = 400

// Serve is the provider plugin: it runs until Terraform ends it. address is the
// provider's in the registry; with debugging, a debugger starts it and Terraform
// attaches.
func Serve(version, address string, debugging bool) error {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(gcPercent)
	}
	if !debugging {
		silence(os.Getenv, os.Setenv)
	}
	var options []tf6server.ServeOpt
	if debugging {
		options = append(options, tf6server.WithManagedDebug())
	}
	return tf6server.Serve(address, NewPlugin(version), options...)
}

// NewPlugin returns the server that Terraform talks to: NewServer, with diagnostics at places
// whose lines Terraform finds.
func NewPlugin(version string, options ...Option) func() tfprotov6.ProviderServer {
	server := NewServer(version, options...)
	return func() tfprotov6.ProviderServer { return problem.Shown(server()) }
}

// NewServer is the framework's server of the provider, with the shortcuts for
// unchanged pools before it. Its diagnostics are at the very attributes that they are
// about.
func NewServer(version string, options ...Option) func() tfprotov6.ProviderServer {
	return func() tfprotov6.ProviderServer {
		p := newProvider(version, options...)
		return shortcut.New(providerserver.NewProtocol6(p)(), version, shortcut.Resource{
			TypeName: spotpool.TypeName, Type: spotpool.StateType, WriteOnly: "user_data_raw_wo",
			Provider: func() string {
				if c := p.connection.Load(); c != nil {
					currency, _ := c.Currency()
					return string(currency)
				}
				return ""
			},
			Refresh: func(ctx context.Context, private map[string][]byte) (shortcut.Refreshed, bool) {
				return spotpool.QuickRefresh(ctx, p.connection.Load(), private)
			},
		})
	}
}

// silence turns the plugin libraries' logs off if Terraform would discard them. The libraries
// write several lines for each attribute of each resource, at every level, and Terraform reads
// every line. That is half of the time of a large plan.
func silence(getenv func(string) string, setenv func(name, value string) error) {
	for _, name := range []string{
		"TF_LOG", "TF_LOG_PROVIDER", "TF_LOG_PROVIDER_GPUPOOL", "TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK", "TF_LOG_SDK_PROTO", "TF_ACC_LOG", "TF_ACC_LOG_PATH",
	} {
		if getenv(name) != "" {
			return
		}
	}
	for _, name := range []string{"TF_LOG_SDK", "TF_LOG_PROVIDER_GPUPOOL"} {
		_ = setenv(name, "OFF") // fails only for malformed names
	}
}
