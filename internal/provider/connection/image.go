package connection

import (
	"context"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/tencent"
)

// imageTimeout bounds the look at an image: a plan goes on without it.
const imageTimeout = 15 * time.Second

// ImageType says of which type an image of a region is. However many pools have
// it, it is asked for once.
func (c *Connection) ImageType(ctx context.Context, region, id string) (tencent.ImageType, error) {
	if _, err := c.AccountID(ctx); err != nil {
		return tencent.ImageUnknown, err
	}
	client, err := c.cloud(ctx)
	if err != nil {
		return tencent.ImageUnknown, err
	}
	ctx, cancel := context.WithTimeout(ctx, imageTimeout)
	defer cancel()
	return client.ImageType(ctx, region, id)
}
