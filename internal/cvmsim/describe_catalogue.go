package cvmsim

import (
	"slices"
	"strings"
)

type describeRegionsRequest struct{}

type describeRegionsResponse struct {
	TotalCount int          `json:"TotalCount"`
	RegionSet  []wireRegion `json:"RegionSet"`
}

type wireRegion struct {
	Region      string `json:"Region"`
	RegionName  string `json:"RegionName"`
	RegionState string `json:"RegionState"`
}

func describeRegions(*world, *call, *describeRegionsRequest) (*describeRegionsResponse, *apiError) {
	answer := &describeRegionsResponse{TotalCount: len(regionTable)}
	for _, r := range regionTable {
		answer.RegionSet = append(answer.RegionSet, wireRegion{r.ID, r.Name, "AVAILABLE"})
	}
	return answer, nil
}

type describeZonesRequest struct{}

type describeZonesResponse struct {
	TotalCount int        `json:"TotalCount"`
	ZoneSet    []wireZone `json:"ZoneSet"`
}

type wireZone struct {
	Zone      string `json:"Zone"`
	ZoneName  string `json:"ZoneName"`
	ZoneID    string `json:"ZoneId"`
	ZoneState string `json:"ZoneState"`
}

func describeZones(_ *world, c *call, _ *describeZonesRequest) (*describeZonesResponse, *apiError) {
	answer := &describeZonesResponse{TotalCount: len(regions[c.Region].Zones)}
	for _, z := range regions[c.Region].Zones {
		state := "AVAILABLE"
		if z.Retired {
			state = "UNAVAILABLE"
		}
		answer.ZoneSet = append(answer.ZoneSet, wireZone{z.ID, z.Name, z.Number, state})
	}
	return answer, nil
}

type describeInstanceTypeConfigsRequest struct {
	Filters []filterParams `json:"Filters,omitempty"`
}

type describeInstanceTypeConfigsResponse struct {
	InstanceTypeConfigSet []wireTypeConfig `json:"InstanceTypeConfigSet"`
}

type wireTypeConfig struct {
	Zone           string  `json:"Zone"`
	InstanceType   string  `json:"InstanceType"`
	InstanceFamily string  `json:"InstanceFamily"`
	GPU            int64   `json:"GPU"`
	CPU            int64   `json:"CPU"`
	Memory         int64   `json:"Memory"`
	FPGA           int64   `json:"FPGA"`
	GPUCount       float64 `json:"GpuCount"`
}

// describeInstanceTypeConfigs lists what a region's zones have; a filter may
// have one value (cvm models.go).
func describeInstanceTypeConfigs(w *world, c *call, p *describeInstanceTypeConfigsRequest) (*describeInstanceTypeConfigsResponse, *apiError) {
	filters, failure := readFilters(p.Filters, 1, oneOf("zone", "instance-family", "instance-type"))
	if failure != nil {
		return nil, failure
	}
	if failure := checkZoneFilter(c.Region, filters); failure != nil {
		return nil, failure
	}
	answer := &describeInstanceTypeConfigsResponse{InstanceTypeConfigSet: []wireTypeConfig{}}
	for _, o := range w.offersIn(c.Region) {
		t := instanceTypes[o.SKU.Type]
		if o.SKU.Charge == chargeHourly && passes(filters, "zone", o.SKU.Zone) &&
			passes(filters, "instance-family", t.family()) && passes(filters, "instance-type", t.Name) {
			answer.InstanceTypeConfigSet = append(answer.InstanceTypeConfigSet, wireTypeConfig{
				Zone: o.SKU.Zone, InstanceType: t.Name, InstanceFamily: t.family(), GPU: t.GPU, CPU: t.CPU, Memory: t.Memory,
				GPUCount: float64(t.GPU),
			})
		}
	}
	return answer, nil
}

type describeImagesRequest struct {
	ImageIDs     []string       `json:"ImageIds,omitempty"`
	Filters      []filterParams `json:"Filters,omitempty"`
	Offset       *int64         `json:"Offset,omitempty"`
	Limit        *int64         `json:"Limit,omitempty"`
	InstanceType *string        `json:"InstanceType,omitempty"`
}

type describeImagesResponse struct {
	ImageSet   []wireImage `json:"ImageSet"`
	TotalCount int         `json:"TotalCount"`
}

type wireImage struct {
	ImageID            string     `json:"ImageId"`
	OsName             string     `json:"OsName"`
	ImageType          string     `json:"ImageType"`
	CreatedTime        string     `json:"CreatedTime"`
	ImageName          string     `json:"ImageName"`
	ImageDescription   string     `json:"ImageDescription"`
	ImageSize          int64      `json:"ImageSize"`
	Architecture       string     `json:"Architecture"`
	ImageState         string     `json:"ImageState"`
	Platform           string     `json:"Platform"`
	ImageCreator       string     `json:"ImageCreator"`
	ImageSource        string     `json:"ImageSource"`
	SyncPercent        int64      `json:"SyncPercent"`
	IsSupportCloudinit bool       `json:"IsSupportCloudinit"`
	SnapshotSet        []struct{} `json:"SnapshotSet"`
	Tags               []Tag      `json:"Tags"`
}

// publicImages are those that everybody has; beside them, every well-formed id
// that is asked for is a private image.
var publicImages = []wireImage{
	publicImage("img-487zeit5", "Ubuntu Server 22.04 LTS 64bit", "Ubuntu"),
	publicImage("img-eb30mz89", "TencentOS Server 3.1 (TK4)", "TencentOS"),
	publicImage("img-9qabwvbn", "TencentOS Server 3.1 (TK4) with GPU driver", "TencentOS"),
}

func publicImage(id, name, platform string) wireImage {
	return wireImage{
		ImageID: id, OsName: name, ImageType: "PUBLIC_IMAGE", CreatedTime: "2023-01-01T00:00:00Z", ImageName: name,
		ImageDescription: name, ImageSize: 20, Architecture: "x86_64", ImageState: "NORMAL", Platform: platform,
		ImageSource: "OFFICIAL", SyncPercent: 100, IsSupportCloudinit: true, SnapshotSet: []struct{}{}, Tags: []Tag{},
	}
}

func describeImages(_ *world, c *call, p *describeImagesRequest) (*describeImagesResponse, *apiError) {
	if len(p.ImageIDs) > 0 && len(p.Filters) > 0 {
		return nil, fail("InvalidParameter.InvalidParameterCoexistImageIdsFilters", "`ImageIds` and `Filters` exclude each other.")
	}
	if p.InstanceType != nil && instanceTypes[*p.InstanceType] == nil {
		return nil, fail("InvalidParameterValue.InstanceTypeNotFound", "The instance type `%s` does not exist.", printable(*p.InstanceType))
	}
	filters, failure := readFilters(p.Filters, 5, func(name string) bool {
		return slices.Contains([]string{"image-id", "image-type", "image-name", "platform", "tag-key", "tag-value"}, name) ||
			strings.HasPrefix(name, tagPrefix)
	})
	if failure != nil {
		return nil, failure
	}
	asked := valuesOf(filters, "image-id")
	images, failure := imagesNamed(append(asked, p.ImageIDs...), c.server.options.AccountID)
	if failure != nil {
		return nil, failure
	}
	images = slices.DeleteFunc(images, func(i wireImage) bool { return !imagePasses(filters, i) })
	from, to, failure := page(p.Offset, p.Limit, len(images))
	if failure != nil {
		return nil, failure
	}
	return &describeImagesResponse{ImageSet: images[from:to], TotalCount: len(images)}, nil
}

// imagesNamed returns the images with these ids, or without any the public
// ones.
func imagesNamed(ids []string, account string) ([]wireImage, *apiError) {
	if len(ids) == 0 {
		return slices.Clone(publicImages), nil
	}
	images := []wireImage{}
	for _, id := range ids {
		if failure := checkID(imageID, "InvalidImageId.Malformed", id); failure != nil {
			return nil, failure
		}
		i := slices.IndexFunc(publicImages, func(p wireImage) bool { return p.ImageID == id })
		if i >= 0 {
			images = append(images, publicImages[i])
			continue
		}
		private := publicImage(id, "TencentOS Server 3.1 (TK4)", "TencentOS")
		private.ImageType, private.ImageSource, private.ImageCreator, private.ImageName = "PRIVATE_IMAGE", "CREATE_IMAGE", account, id
		images = append(images, private)
	}
	return images, nil
}

// imagePasses compares exactly, except for names and platforms, which may be
// given in part. No image has tags.
func imagePasses(filters []filter, i wireImage) bool {
	for _, f := range filters {
		ok := false
		switch f.name {
		case "image-id":
			ok = f.has(i.ImageID)
		case "image-type":
			ok = f.has(i.ImageType)
		case "image-name":
			ok = slices.ContainsFunc(f.values, func(v string) bool { return strings.Contains(i.ImageName, v) })
		case "platform":
			ok = slices.ContainsFunc(f.values, func(v string) bool { return strings.Contains(i.Platform, v) })
		}
		if !ok {
			return false
		}
	}
	return true
}
