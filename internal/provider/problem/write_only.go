package problem

import (
	"fmt"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
)

// WriteOnly reports a write-only argument that is set in addition to its plain one, or without
// its version. An unknown value may be null, and is checked in a later call.
func WriteOnly(diags *diag.Diagnostics, name string, plain, writeOnly, version attr.Value) {
	set := func(v attr.Value) bool { return !v.IsNull() && !v.IsUnknown() }
	wo := name + "_wo"
	switch {
	case set(plain) && set(writeOnly):
		diags.AddAttributeError(path.Root(wo), "Conflicting arguments", fmt.Sprintf("%s and %s are the same setting: use one of them.", name, wo))
	case set(writeOnly) && version.IsNull():
		diags.AddAttributeError(path.Root(wo+"_version"), "Missing version", fmt.Sprintf("%[1]s needs %[1]s_version: begin with 1, and change it with each "+
			"change of %[1]s.", wo))
	case writeOnly.IsNull() && set(version):
		diags.AddAttributeError(path.Root(wo+"_version"), "Version without a value", fmt.Sprintf("%[1]s_version is the version of %[1]s, which is not set: "+
			"set both, or neither.", wo))
	}
}
