package cli

import (
	"runtime/debug"
	"strings"
)

// NewBuild completes the values that the linker set. A build by go install has the version
// "dev" and gets the version of the module. A build by go build gets the commit that Go
// found in git.
func NewBuild(version, commit string) Build {
	b := Build{Version: version, Commit: short(commit)}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return b
	}
	if v := info.Main.Version; version == "dev" && v != "" && v != "(devel)" {
		b.Version = strings.TrimPrefix(v, "v")
	}
	for _, setting := range info.Settings {
		if setting.Key == "vcs.revision" && b.Commit == "" {
			b.Commit = short(setting.Value)
		}
	}
	return b
}

// short returns the abbreviated commit.
func short(commit string) string { return commit[:min(12, len(commit))] }

// IsProvider reports whether the program serves as the Terraform provider. Terraform starts it
// with a cookie and no arguments. A developer debugs it with -debug.
//
// With other arguments it is the command line, even with a cookie. Programs that a provider
// starts, such as those of data "external", inherit its cookie.
func IsProvider(args []string, cookie string) (serve, debug bool) {
	switch {
	case len(args) == 0:
		return cookie != "", false
	case len(args) == 1 && (args[0] == "-debug" || args[0] == "--debug"):
		return true, true
	}
	return false, false
}
