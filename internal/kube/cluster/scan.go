package cluster

import (
	"google.golang.org/protobuf/encoding/protowire"

	"github.com/gpupool/terraform-provider-gpupool/internal/gpu"
	kubeclient "github.com/gpupool/terraform-provider-gpupool/internal/kube/client"
)

// The numbers of the fields that are read without the rest. See generated.proto of k8s.io/api/core/v1 and
// k8s.io/apimachinery/pkg/apis/meta/v1.
const (
	podMetadata = 1
	podSpec     = 2
	podStatus   = 3

	metaAnnotations = 12

	specContainers     = 2
	specInitContainers = 20
	specOverhead       = 32
	specResourceClaims = 39
	specResources      = 40

	containerResources = 8
	resourceLimits     = 1
	resourceRequests   = 2

	statusExtendedClaim = 18

	mapKey = 1
)

// interest says which names make a pod worth being decoded as a whole.
type interest struct {
	resource   func(name []byte) bool
	annotation func(key []byte) bool
}

// interestOf looks for what counts as a GPU. What a name means is worked out
// once; a cluster has few names of resources, however many pods it has.
func interestOf(table *gpu.Table) interest {
	known := map[string]bool{}
	return interest{
		resource: func(name []byte) bool {
			matters, ok := known[string(name)]
			if !ok {
				matters = table.Matters(string(name))
				known[string(name)] = matters
			}
			return matters
		},
		annotation: func(key []byte) bool { return gpu.MattersAnnotation(string(key)) },
	}
}

// mayHoldGPUs reports whether a pod's protobuf names a relevant resource, resource claim or annotation. It
// reads only names, allocates nothing, and returns true if in doubt, so that a pod without GPUs costs little
// more than its download.
func (i interest) mayHoldGPUs(pod []byte) (bool, error) {
	found := false
	err := i.walk(pod, func(number protowire.Number, value []byte) error {
		switch number {
		case podMetadata:
			return i.walk(value, func(number protowire.Number, entry []byte) error {
				return i.named(&found, number == metaAnnotations, entry, i.annotation)
			}, &found)
		case podSpec:
			return i.spec(value, &found)
		case podStatus:
			return i.walk(value, func(number protowire.Number, _ []byte) error {
				found = found || number == statusExtendedClaim
				return nil
			}, &found)
		}
		return nil
	}, &found)
	return found, err
}

func (i interest) spec(spec []byte, found *bool) error {
	return i.walk(spec, func(number protowire.Number, value []byte) error {
		switch number {
		case specContainers, specInitContainers:
			return i.walk(value, func(number protowire.Number, value []byte) error {
				if number != containerResources {
					return nil
				}
				return i.resources(value, found)
			}, found)
		case specOverhead:
			return i.named(found, true, value, i.resource)
		case specResources:
			return i.resources(value, found)
		case specResourceClaims:
			*found = true
		}
		return nil
	}, found)
}

func (i interest) resources(requirements []byte, found *bool) error {
	return i.walk(requirements, func(number protowire.Number, entry []byte) error {
		return i.named(found, number == resourceLimits || number == resourceRequests, entry, i.resource)
	}, found)
}

// named reads the key of one entry of a map.
func (i interest) named(found *bool, follow bool, entry []byte, wanted func([]byte) bool) error {
	if !follow {
		return nil
	}
	return i.walk(entry, func(number protowire.Number, key []byte) error {
		if number == mapKey && wanted(key) {
			*found = true
		}
		return nil
	}, found)
}

// walk goes through the fields of a message until something was found.
func (i interest) walk(message []byte, each func(protowire.Number, []byte) error, found *bool) error {
	return kubeclient.Fields(message, func(number protowire.Number, value []byte) error {
		if *found {
			return nil
		}
		return each(number, value)
	})
}
