package toycloud

import (
	"context"
	"errors"
	"fmt"
	"maps"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Tag sets tags on instances. One that is gone is an error, and the others are tagged.
func (c *Cloud) Tag(ctx context.Context, _ string, ids []string, tags map[string]string) error {
	return c.eachTagged(ctx, "Tag", ids, func(i *instance) { maps.Copy(i.tags, tags) }, func(id string) error {
		return refusal("Tag", errorclass.Configuration, spotpool.ScopePool, "NotFound", fmt.Sprintf("instance %s is gone", id))
	})
}

// Untag removes tags. An instance that is gone has none.
func (c *Cloud) Untag(ctx context.Context, _ string, ids, keys []string) error {
	return c.eachTagged(ctx, "Untag", ids, func(i *instance) {
		for _, key := range keys {
			delete(i.tags, key)
		}
	}, func(string) error { return nil })
}

func (c *Cloud) eachTagged(ctx context.Context, action string, ids []string, change func(*instance), gone func(id string) error) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	problems := []error{c.begin(ctx, action)}
	if problems[0] != nil {
		return problems[0]
	}
	for _, id := range ids {
		if i := c.instances[id]; i != nil {
			change(i)
			continue
		}
		problems = append(problems, gone(id))
	}
	return errors.Join(problems...)
}
