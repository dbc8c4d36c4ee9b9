//go:build !linux

package kubernetes

// thisProcess returns nothing on systems that do not distinguish boots and namespaces: locks last
// as long as their Leases.
func thisProcess() (process, bool) { return process{}, false }

func (p process) death() death { return death{} }
