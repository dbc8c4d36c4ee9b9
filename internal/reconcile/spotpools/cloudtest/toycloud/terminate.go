package toycloud

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// notTerminated lists why instances still run, by id.
type notTerminated map[string]string

// NotEnded lists the instances that were certainly not terminated.
func (e notTerminated) NotEnded() []string { return slices.Sorted(maps.Keys(e)) }

// Error names each instance with its reason.
func (e notTerminated) Error() string {
	var list []string
	for _, id := range e.NotEnded() {
		list = append(list, fmt.Sprintf("%s (%s)", id, e[id]))
	}
	return "not terminated: " + strings.Join(list, ", ")
}

// Terminate terminates instances, and returns the ids that are gone by now. One that was
// gone before is among them. It takes observations and no ids, so that an adapter sees
// what the decision was made on.
func (c *Cloud) Terminate(ctx context.Context, region string, instances []spotpool.Instance) (ended []string, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.begin(ctx, "Terminate"); err != nil {
		return nil, err
	}
	left := notTerminated{}
	for _, asked := range instances {
		i := c.instances[asked.ID]
		switch {
		case asked.Region != region:
			left[asked.ID] = "is of another region"
		case i == nil:
			ended = append(ended, asked.ID)
		case i.tags[spotpool.TagUID] != asked.PoolUID && asked.PoolUID != "": // late tags do not change the owner
			left[asked.ID] = "belongs to another pool by now"
		case i.protected:
			left[asked.ID] = "is protected: turn its termination protection off first"
		case c.observed(i).State == spotpool.StatePending:
			left[asked.ID] = "is starting: terminate it once it runs"
		default:
			delete(c.instances, asked.ID)
			ended = append(ended, asked.ID)
		}
	}
	if len(left) > 0 {
		err = left
	}
	slices.Sort(ended)
	return ended, err
}
