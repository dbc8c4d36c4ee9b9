package connection

import (
	"fmt"
	"slices"
	"strings"
)

// The arguments of the provider that don't belong to the cloud.
const (
	StoreArgument      = "store"
	KubernetesArgument = "kubernetes"
)

// Undecided names provider arguments whose values are not known yet.
type Undecided []string

// Cloud are those that keep the account from being used.
func (u Undecided) Cloud() Undecided {
	return u.without(func(name string) bool { return name == StoreArgument || name == KubernetesArgument })
}

// Cluster are those that keep the cluster from being used.
func (u Undecided) Cluster() Undecided {
	return u.without(func(name string) bool { return name != KubernetesArgument })
}

func (u Undecided) without(drop func(string) bool) Undecided {
	return slices.DeleteFunc(slices.Clone(u), drop)
}

// error is nil where nothing is undecided.
func (u Undecided) error() error {
	if len(u) == 0 {
		return nil
	}
	return &UndecidedError{Arguments: u}
}

// UndecidedError says that the provider can't be used yet.
type UndecidedError struct{ Arguments []string }

// Error names the arguments and what to do about them.
func (e *UndecidedError) Error() string {
	return fmt.Sprintf("the provider's %s depends on something that is created in the same run, so nothing can be read with it yet. Create that first, with terraform apply -target, or write the value itself", strings.Join(e.Arguments, ", "))
}
