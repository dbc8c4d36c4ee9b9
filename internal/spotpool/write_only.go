package spotpool

import (
	"cmp"
	"fmt"
)

// Script is the user data of instances, whichever argument has it.
func (c Configuration) Script() string { return cmp.Or(c.UserData, c.UserDataWO) }

// WithoutWriteOnly is the declaration as Terraform keeps it.
func (d Declaration) WithoutWriteOnly() Declaration {
	d.UserDataWO = ""
	return d
}

// WithWriteOnly is the declaration with the write-only value of the record, unless the
// version says that it changed. The error says that neither has the value.
func (d Declaration) WithWriteOnly(recorded Declaration) (Declaration, error) {
	switch {
	case d.UserDataWOVersion == 0:
		d.UserDataWO = ""
	case d.UserDataWOVersion == recorded.UserDataWOVersion && recorded.UserDataWO != "":
		d.UserDataWO = recorded.UserDataWO
	case d.UserDataWO == "":
		return d, fmt.Errorf("the user_data_raw_wo of %s in version %d is in no Terraform state, and the store has version %d: run terraform apply with a "+
			"configuration that has it", d.Object(), d.UserDataWOVersion, recorded.UserDataWOVersion)
	}
	return d, nil
}
