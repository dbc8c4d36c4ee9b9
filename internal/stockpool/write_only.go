package stockpool

import (
	"fmt"
	"maps"
)

func (d Declaration) variables() map[string]string {
	all := map[string]string{}
	maps.Copy(all, d.Env)
	maps.Copy(all, d.EnvWO)
	return all
}

// WithWriteOnly returns the declaration with the recorded write-only values, unless the version
// changed. The error reports that neither has the values.
func (d Declaration) WithWriteOnly(recorded Declaration) (Declaration, error) {
	switch {
	case d.EnvWOVersion == 0:
		d.EnvWO = nil
	case d.EnvWOVersion == recorded.EnvWOVersion && recorded.EnvWO != nil:
		d.EnvWO = recorded.EnvWO
	case d.EnvWO == nil:
		return d, fmt.Errorf("the store has version %[3]d of env_wo of %[1]s, not %[2]d: run terraform apply with a configuration that sets env_wo",
			d.Object(), d.EnvWOVersion, recorded.EnvWOVersion)
	}
	return d, nil
}
