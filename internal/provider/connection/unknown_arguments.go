package connection

import (
	"fmt"
	"slices"
	"strings"
)

// The arguments of the provider that do not belong to Tencent Cloud.
const (
	StoreArgument      = "store"
	KubernetesArgument = "kubernetes"
)

// UnknownArguments are names of provider arguments with unknown values.
type UnknownArguments []string

// Cloud are the arguments without which the account can't be used.
func (u UnknownArguments) Cloud() UnknownArguments {
	return u.without(func(name string) bool { return name == StoreArgument || name == KubernetesArgument })
}

// Cluster are the arguments without which the cluster can't be used.
func (u UnknownArguments) Cluster() UnknownArguments {
	return u.without(func(name string) bool { return name != KubernetesArgument })
}

func (u UnknownArguments) without(drop func(string) bool) UnknownArguments {
	return slices.DeleteFunc(slices.Clone(u), drop)
}

// error is nil where nothing is unknown.
func (u UnknownArguments) error() error {
	if len(u) == 0 {
		return nil
	}
	return &UnknownArgumentsError{Arguments: u}
}

// UnknownArgumentsError reports that the provider is not usable yet.
type UnknownArgumentsError struct{ Arguments []string }

// Error names the arguments and what to do about them.
func (e *UnknownArgumentsError) Error() string {
	return fmt.Sprintf("the provider's %s depends on something that is created in the same run, so nothing can be read with it yet. Create that first, "+
		"with terraform apply -target, or write the value itself", strings.Join(e.Arguments, ", "))
}
