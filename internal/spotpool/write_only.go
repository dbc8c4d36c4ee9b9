package spotpool

import (
	"cmp"
	"fmt"
)

// Script returns the user data, which either of two arguments has.
func (c Configuration) Script() string { return cmp.Or(c.UserData, c.UserDataWO) }

// WithoutWriteOnly returns the declaration as Terraform stores it.
func (d Declaration) WithoutWriteOnly() Declaration {
	d.UserDataWO = ""
	return d
}

// WithWriteOnly returns the declaration with the record's write-only value, unless its
// version changed. It fails if neither has the value.
func (d Declaration) WithWriteOnly(recorded Declaration) (Declaration, error) {
	switch {
	case d.UserDataWOVersion == 0:
		d.UserDataWO = ""
	case d.UserDataWOVersion == recorded.UserDataWOVersion && recorded.UserDataWO != "":
		d.UserDataWO = recorded.UserDataWO
	case d.UserDataWO == "":
		return d, fmt.Errorf("the user_data_raw_wo of %s in version %d is in no Terraform state, and the store has version %d: apply a "+
			"configuration that has it", d.Object(), d.UserDataWOVersion, recorded.UserDataWOVersion)
	}
	return d, nil
}
