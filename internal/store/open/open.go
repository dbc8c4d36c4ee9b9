// Package open opens a store at its location, whichever backend it is of. It is
// the one place that knows all backends.
package open

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/store"
	"github.com/gpupool/terraform-provider-gpupool/internal/store/directory"
)

// Options say how to open a store.
type Options struct {
	// Create makes a directory's store where there is none.
	Create bool
	// Command is what a lock's holder is called to others who want the lock,
	// such as "gpupool reconcile".
	Command string
}

// Store opens the store at a location. Where there is none the error wraps
// store.ErrNoStore, unless it may be created.
func Store(l store.Location, o Options) (store.Store, error) {
	switch l.Backend {
	case store.Directory:
		s, err := directory.Open(l.Path, directory.Options{Create: o.Create, Command: o.Command})
		if err != nil {
			return nil, err
		}
		return s, nil
	case store.Kubernetes:
		return nil, fmt.Errorf("the store %s cannot be opened: this build of gpupool keeps stores in directories alone; name one as directory:DIR", l)
	}
	return nil, fmt.Errorf("the store %q is of an unknown kind: a store is directory:DIR or kubernetes:NAMESPACE", l)
}
