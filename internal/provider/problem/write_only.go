package problem

import (
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"

	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// WriteOnly reports a write-only argument that is set in addition to its plain one, or without
// its version. An unknown value may be null, and is checked in a later call.
func WriteOnly(diags *diag.Diagnostics, name string, plain, writeOnly, version attr.Value) {
	set := func(v attr.Value) bool { return !v.IsNull() && !v.IsUnknown() }
	wo := name + "_wo"
	switch {
	case set(plain) && set(writeOnly):
		diags.Append(Error(path.Root(wo), reason.ConflictingArguments(reason.Word(name), reason.Word(wo))))
	case set(writeOnly) && version.IsNull():
		diags.Append(Error(path.Root(wo+"_version"), reason.MissingVersion(reason.Word(wo))))
	case writeOnly.IsNull() && set(version):
		diags.Append(Error(path.Root(wo+"_version"), reason.VersionWithoutValue(reason.Word(wo))))
	}
}
