package cvm

import (
	"slices"
	"strings"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/api"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

type describeImagesRequest struct {
	ImageIDs []string `json:"ImageIds,omitempty"`
	paged
	Filters      []filterParams `json:"Filters,omitempty"`
	InstanceType *string        `json:"InstanceType,omitempty"`
}

type describeImagesResponse struct {
	ImageSet   []wireImage `json:"ImageSet"`
	TotalCount int         `json:"TotalCount"`
}

type wireImage struct {
	ImageID            string      `json:"ImageId"`
	OsName             string      `json:"OsName"`
	ImageType          string      `json:"ImageType"`
	CreatedTime        string      `json:"CreatedTime"`
	ImageName          string      `json:"ImageName"`
	ImageDescription   string      `json:"ImageDescription"`
	ImageSize          int64       `json:"ImageSize"`
	Architecture       string      `json:"Architecture"`
	ImageState         string      `json:"ImageState"`
	Platform           string      `json:"Platform"`
	ImageCreator       string      `json:"ImageCreator"`
	ImageSource        string      `json:"ImageSource"`
	SyncPercent        int64       `json:"SyncPercent"`
	IsSupportCloudinit bool        `json:"IsSupportCloudinit"`
	SnapshotSet        []struct{}  `json:"SnapshotSet"`
	Tags               []world.Tag `json:"Tags"`
}

// The types of images (cvm models.go, Image.ImageType). An imported one is private, and its source
// shows the origin.
const (
	imagePublic  = "PUBLIC_IMAGE"
	imagePrivate = "PRIVATE_IMAGE"
	imageShared  = "SHARED_IMAGE"
)

// knownImages exist from the start. In addition, every well-formed ID is a private image of the
// account.
var knownImages = []wireImage{
	image("img-487zeit5", "Ubuntu Server 22.04 LTS 64bit", "Ubuntu", imagePublic, "OFFICIAL"),
	image("img-eb30mz89", "TencentOS Server 3.1 (TK4)", "TencentOS", imagePublic, "OFFICIAL"),
	image("img-9qabwvbn", "TencentOS Server 3.1 (TK4) with GPU driver", "TencentOS", imagePublic, "OFFICIAL"),
	image("img-shared00", "TencentOS Server 3.1 (TK4)", "TencentOS", imageShared, "CREATE_IMAGE"),
	image("img-import00", "TencentOS Server 3.1 (TK4)", "TencentOS", imagePrivate, "EXTERNAL_IMPORT"),
}

func image(id, name, platform, kind, source string) wireImage {
	return wireImage{
		ImageID: id, OsName: name, ImageType: kind, CreatedTime: "2023-01-01T00:00:00Z", ImageName: name,
		ImageDescription: name, ImageSize: 20, Architecture: "x86_64", ImageState: "NORMAL", Platform: platform,
		ImageSource: source, SyncPercent: 100, IsSupportCloudinit: true, SnapshotSet: []struct{}{}, Tags: []world.Tag{},
	}
}

func imageOf(id string) wireImage {
	if i := slices.IndexFunc(knownImages, func(k wireImage) bool { return k.ImageID == id }); i >= 0 {
		return knownImages[i]
	}
	private := image(id, "TencentOS Server 3.1 (TK4)", "TencentOS", imagePrivate, "CREATE_IMAGE")
	private.ImageName = id
	return private
}

func describeImages(_ *world.World, c *api.Call, p *describeImagesRequest) (*describeImagesResponse, *wire.Error) {
	if len(p.ImageIDs) > 0 && len(p.Filters) > 0 {
		return nil, wire.Fail("InvalidParameter.InvalidParameterCoexistImageIdsFilters", "`ImageIds` and `Filters` exclude each other.")
	}
	if p.InstanceType != nil && world.TypeByName[*p.InstanceType] == nil {
		return nil, wire.Fail("InvalidParameterValue.InstanceTypeNotFound", "The instance type `%s` does not exist.", wire.Printable(*p.InstanceType))
	}
	filters, failure := readFilters(p.Filters, 5, func(name string) bool {
		return slices.Contains([]string{"image-id", "image-type", "image-name", "platform", "tag-key", "tag-value"}, name) ||
			strings.HasPrefix(name, world.TagPrefix)
	})
	if failure != nil {
		return nil, failure
	}
	asked := valuesOf(filters, "image-id")
	images, failure := imagesNamed(append(asked, p.ImageIDs...), c.Account.ID)
	if failure != nil {
		return nil, failure
	}
	images = slices.DeleteFunc(images, func(i wireImage) bool { return !imagePasses(filters, i) })
	set, failure := page(p.paged, images, func(i wireImage) wireImage { return i })
	return &describeImagesResponse{ImageSet: set, TotalCount: len(images)}, failure
}

// imagesNamed returns the images with these IDs, or by default the known ones.
func imagesNamed(ids []string, account string) ([]wireImage, *wire.Error) {
	if len(ids) == 0 {
		for _, known := range knownImages {
			ids = append(ids, known.ImageID)
		}
	}
	images := []wireImage{}
	for _, id := range ids {
		if failure := wire.ImageID.Check(id); failure != nil {
			return nil, failure
		}
		i := imageOf(id)
		if i.ImageType == imagePrivate {
			i.ImageCreator = account
		}
		images = append(images, i)
	}
	return images, nil
}

// imagePasses compares exactly, except for names and platforms, which may be partial. No image has
// tags.
func imagePasses(filters []world.Filter, i wireImage) bool {
	return !slices.ContainsFunc(filters, func(f world.Filter) bool {
		switch f.Name {
		case "image-id":
			return !f.Has(i.ImageID)
		case "image-type":
			return !f.Has(i.ImageType)
		case "image-name":
			return !slices.ContainsFunc(f.Values, func(v string) bool { return strings.Contains(i.ImageName, v) })
		case "platform":
			return !slices.ContainsFunc(f.Values, func(v string) bool { return strings.Contains(i.Platform, v) })
		}
		return true
	})
}
