package local

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"runtime"
)

// Provider is a built Terraform provider.
type Provider struct {
	Source  string // "gpupool/gpupool"
	Version string
	Binary  string
}

// Mirror creates a filesystem mirror of providers in dir, for terraform and tofu. It returns
// the path of a CLI configuration that installs providers only from there.
func Mirror(dir string, providers ...Provider) (configuration string, err error) {
	mirror := filepath.Join(dir, "mirror")
	for _, p := range providers {
		binary, err := filepath.EvalSymlinks(p.Binary)
		if err != nil {
			return "", err
		}
		for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
			at := filepath.Join(mirror, host, filepath.FromSlash(p.Source), p.Version, runtime.GOOS+"_"+runtime.GOARCH)
			if err := os.MkdirAll(at, 0o755); err != nil {
				return "", err
			}
			if err := os.Symlink(binary, filepath.Join(at, "terraform-provider-"+path.Base(p.Source)+"_v"+p.Version)); err != nil {
				return "", err
			}
		}
	}
	configuration = filepath.Join(dir, "terraformrc")
	text := fmt.Sprintf("provider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", mirror)
	return configuration, os.WriteFile(configuration, []byte(text), 0o600)
}

// Override lets Terraform use the built gpupool as provider, without terraform init and without
// its checksum at each start. It returns the path of the CLI configuration, whose files are in
// dir.
func Override(dir, gpupool string) (configuration string, err error) {
	binary, err := filepath.EvalSymlinks(gpupool)
	if err != nil {
		return "", err
	}
	at := filepath.Join(dir, "override")
	if err := os.MkdirAll(at, 0o755); err != nil {
		return "", err
	}
	if err := os.Symlink(binary, filepath.Join(at, "terraform-provider-gpupool")); err != nil {
		return "", err
	}
	configuration = filepath.Join(dir, "terraformrc")
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  dev_overrides {\n    \"gpupool/gpupool\" = %q\n  }\n  direct {}\n}\n", at)
	return configuration, os.WriteFile(configuration, []byte(text), 0o600)
}
