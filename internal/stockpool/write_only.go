package stockpool

import (
	"fmt"
	"maps"
)

// variables are the environment variables of pods, whichever argument has them.
func (d Declaration) variables() map[string]string {
	all := map[string]string{}
	maps.Copy(all, d.Env)
	maps.Copy(all, d.EnvWO)
	return all
}

// WithWriteOnly is the declaration with the write-only values of the record, unless the
// version says that they changed. The error says that neither has the values.
func (d Declaration) WithWriteOnly(recorded Declaration) (Declaration, error) {
	switch {
	case d.EnvWOVersion == 0:
		d.EnvWO = nil
	case d.EnvWOVersion == recorded.EnvWOVersion && recorded.EnvWO != nil:
		d.EnvWO = recorded.EnvWO
	case d.EnvWO == nil:
		return d, fmt.Errorf("the env_wo of %s in version %d is in no Terraform state, and the store has version %d: run terraform apply with a "+
			"configuration that has it", d.Object(), d.EnvWOVersion, recorded.EnvWOVersion)
	}
	return d, nil
}
