package cli

import (
	"runtime/debug"
	"strings"
)

// NewBuild completes what the linker set. A build by go install has the version "dev"
// instead, and its version is the module's; one by go build has no commit, but for that
// which Go found in git.
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

// short is a commit as people name it.
func short(commit string) string { return commit[:min(12, len(commit))] }

// IsProvider says whether the program was started to be the Terraform provider: by
// Terraform, which passes a cookie and no arguments, or by a developer who debugs the
// provider with -debug.
//
// With arguments it is the command line even with a cookie: programs that another
// provider starts, as data "external" does, inherit that provider's cookie.
func IsProvider(args []string, cookie string) (serve, debug bool) {
	switch {
	case len(args) == 0:
		return cookie != "", false
	case len(args) == 1 && (args[0] == "-debug" || args[0] == "--debug"):
		return true, true
	}
	return false, false
}
