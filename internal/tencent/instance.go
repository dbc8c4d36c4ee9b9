package tencent

import (
	"strconv"
	"strings"
	"time"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// createdForm is how CreatedTime is written, in UTC (data type Instance).
const createdForm = "2006-01-02T15:04:05Z"

// instanceFrom converts an instance. Any field may be absent. An invalid time stays zero.
func instanceFrom(i *cvm.Instance, region, account string) spotpool.Instance {
	out := spotpool.Instance{
		ID:           value(i.InstanceId),
		Region:       region,
		AccountID:    account,
		InstanceType: value(i.InstanceType),
		ChargeType:   spotpool.ChargeType(value(i.InstanceChargeType)),
		State:        spotpool.State(value(i.InstanceState)),
		Restricted:   i.RestrictState != nil && *i.RestrictState != "NORMAL",
		APIProtected: value(i.DisableApiTermination),
		PrivateIP:    first(i.PrivateIpAddresses),
		PublicIP:     first(i.PublicIpAddresses),
	}
	if i.Placement != nil {
		out.AvailabilityZone = value(i.Placement.Zone)
	}
	if !spotpool.ZoneOfRegion(out.AvailabilityZone, region) {
		out.Region = "" // the response contradicts itself: the instance belongs to no pool
	}
	if i.VirtualPrivateCloud != nil {
		out.VPCID, out.SubnetID = value(i.VirtualPrivateCloud.VpcId), value(i.VirtualPrivateCloud.SubnetId)
	}
	if created, err := time.ParseInLocation(createdForm, value(i.CreatedTime), time.UTC); err == nil {
		out.LaunchedAt = created
	}
	if value(i.LatestOperationState) == "FAILED" || out.State == spotpool.StateLaunchFailed {
		out.OperationError = value(i.LatestOperationErrorMsg)
	}
	for _, tag := range i.Tags {
		if tag != nil {
			readTag(&out, value(tag.Key), value(tag.Value))
		}
	}
	return out
}

func readTag(i *spotpool.Instance, key, text string) {
	switch key {
	case spotpool.TagUID:
		i.PoolUID = text
	case spotpool.TagPool:
		i.PoolName = text
	case spotpool.TagConfiguration:
		i.ConfigurationTag = text
	case spotpool.TagSequence:
		if n, err := strconv.ParseInt(text, 10, 64); err == nil && n > 0 {
			i.SeqTag = n
		}
	case spotpool.TagProtected:
		// A manual tag means protection, unless its value is "no".
		i.Protected = !isNo(text)
	}
}

func isNo(text string) bool {
	switch strings.ToLower(text) {
	case "false", "no", "0", "off":
		return true
	}
	return false
}

func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func pointer[T any](v T) *T { return &v }

// optional is nil for a zero value, for which Tencent Cloud has its own default.
func optional[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}

// pointers is nil for no values: the SDK would send an empty list.
func pointers[T any](values []T) []*T {
	var list []*T
	for _, v := range values {
		list = append(list, &v)
	}
	return list
}

func first(list []*string) string {
	for _, s := range list {
		if s != nil && *s != "" {
			return *s
		}
	}
	return ""
}
