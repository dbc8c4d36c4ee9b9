//go:build !linux

package kubernetes

// thisProcess is not named where there is nothing that sets boots and namespaces
// apart: locks last as long as their Leases.
func thisProcess() (process, bool) { return process{}, false }

func (p process) death() death { return death{} }
