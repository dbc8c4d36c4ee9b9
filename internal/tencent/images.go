package tencent

import (
	"context"
	"strings"
	"sync"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// ImageType is the origin of an image (data type Image, field ImageType). An imported one is
// the account's own.
type ImageType string

// The types of images.
const (
	ImageUnknown ImageType = "" // there is none of that id that the account may use
	ImagePublic  ImageType = "PUBLIC_IMAGE"
	ImagePrivate ImageType = "PRIVATE_IMAGE"
	ImageShared  ImageType = "SHARED_IMAGE"
)

// Found reports whether there is such an image.
func (t ImageType) Found() bool { return t != ImageUnknown }

// NeedsKeys reports whether instances need keys: a public image's own login can't be
// kept.
func (t ImageType) NeedsKeys() bool { return t == ImagePublic }

// images caches the types of images, which never change.
type images struct {
	mu   sync.Mutex
	seen map[imageKey]*imageObservation
}

type imageKey struct{ region, id string }

// imageObservation is the observation of one image. One caller reads it while the others
// wait.
type imageObservation struct {
	mu   sync.Mutex
	done bool
	kind ImageType
	err  error
}

// ImageType looks up the type of an image once; a refusal is cached, too.
func (c *Client) ImageType(ctx context.Context, region, id string) (ImageType, error) {
	c.images.mu.Lock()
	if c.images.seen == nil {
		c.images.seen = map[imageKey]*imageObservation{}
	}
	observation := c.images.seen[imageKey{region, id}]
	if observation == nil {
		observation = &imageObservation{}
		c.images.seen[imageKey{region, id}] = observation
	}
	c.images.mu.Unlock()

	observation.mu.Lock()
	defer observation.mu.Unlock()
	if !observation.done {
		kind, err := c.imageType(ctx, region, id)
		if err != nil && ctx.Err() != nil {
			return ImageUnknown, err
		}
		observation.kind, observation.err, observation.done = kind, err, true
	}
	return observation.kind, observation.err
}

func (c *Client) imageType(ctx context.Context, region, id string) (ImageType, error) {
	request, response := cvm.NewDescribeImagesRequest(), cvm.NewDescribeImagesResponse()
	request.ImageIds = pointers([]string{id})
	if _, err := c.api.call(ctx, c.keys, region, request, response); err != nil {
		return ImageUnknown, err
	}
	if response.Response == nil {
		return ImageUnknown, nil
	}
	for _, image := range response.Response.ImageSet {
		if image != nil && value(image.ImageId) == id {
			return ImageType(value(image.ImageType)), nil
		}
	}
	return ImageUnknown, nil
}

// namingLogin adds the remedy to a refusal to keep the image's login. A launch without keys keeps it, which only custom,
// shared and imported images allow (data type LoginSettings). The two error codes have other meanings, too, but none that
// such a launch can cause.
func namingLogin(err error, r spotpool.Request) error {
	cloud, ok := spotpool.AsCloudError(err)
	if !ok || len(r.KeyIDs) > 0 || cloud.Class != errorclass.Configuration {
		return err
	}
	if cloud.UsedToken() {
		return err
	}
	text := strings.ToLower(cloud.Message)
	about := strings.Contains(text, "keepimagelogin") || strings.Contains(text, "loginsettings")
	if about || cloud.Code == "InvalidParameterCombination" || cloud.Code == "InvalidParameter.ParameterConflict" {
		cloud.Remedy = reason.SetKeys()
	}
	return err
}
