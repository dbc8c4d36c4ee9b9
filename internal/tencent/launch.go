package tencent

import (
	"context"
	"encoding/base64"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"time"

	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"

	"github.com/gpupool/terraform-provider-gpupool/internal/errorclass"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Launch launches the request's instances. It returns their IDs and the time of the response.
// The launch is then accepted, and the instances are not listed yet.
//
// The body is built only from the request, and the ClientToken is the request's. Launching the
// same request again, in this call or by another process, is the same launch. The error is or
// wraps a *spotpool.CloudError. If it has NothingLaunched, no attempt of this call had an
// effect; an earlier call with the same request may have had one.
func (c *Client) Launch(ctx context.Context, r spotpool.Request) (ids []string, at time.Time, err error) {
	if r.Token == "" {
		return nil, time.Time{}, &spotpool.CloudError{
			Class: errorclass.Configuration, Scope: spotpool.ScopePool, NothingLaunched: true, Action: "RunInstances",
			Code: "ClientError.NoClientToken", Message: fmt.Sprintf("launch %d of %s/%s has no ClientToken, and could not be repeated safely.", r.Sequence,
				r.Region, r.Pool),
		}
	}
	if err := c.checkAccount(ctx, "RunInstances"); err != nil {
		return nil, time.Time{}, err
	}
	response := cvm.NewRunInstancesResponse()
	got, err := c.api.call(ctx, c.keys, r.Region, runInstances(r), response)
	if err != nil {
		for _, text := range []string{r.Script(), base64.StdEncoding.EncodeToString([]byte(r.Script())), shorten(r.Script())} {
			err = without(err, text, "(user data)")
		}
		if cloud, ok := spotpool.AsCloudError(err); ok && cloud.UsedToken() {
			cloud.Remedy = reason.AwaitNewTokens()
		}
		return nil, time.Time{}, namingLogin(err, r)
	}
	if response.Response != nil {
		for _, id := range response.Response.InstanceIdSet {
			if value(id) != "" {
				ids = append(ids, *id)
			}
		}
	}
	if len(ids) == 0 {
		return nil, time.Time{}, &spotpool.CloudError{
			Class: errorclass.Transient, Scope: spotpool.ScopePool, Action: "RunInstances",
			Code: "ClientError.NoInstanceIds", Message: "the launch was accepted, and the answer names no instance.", RequestID: got.requestID,
		}
	}
	return ids, got.at, nil
}

// runInstances builds the call's body: the same request gives the same bytes.
// A list without elements stays nil, since the SDK sends empty ones and the
// cloud refuses them.
func runInstances(r spotpool.Request) *cvm.RunInstancesRequest {
	run := cvm.NewRunInstancesRequest()
	run.ClientToken = pointer(r.Token)
	run.InstanceChargeType = pointer(string(r.ChargeType))
	run.InstanceCount = pointer(int64(r.Count))
	run.InstanceType = pointer(r.Offering.InstanceType)
	run.InstanceName = pointer(fmt.Sprintf("gpupool-%s-%d-{R:1}", r.Pool, r.Sequence)) // R:1 numbers them from 1
	run.ImageId = pointer(r.ImageID)
	run.Placement = &cvm.Placement{Zone: pointer(r.Offering.AvailabilityZone), ProjectId: optional(r.ProjectID)}
	run.VirtualPrivateCloud = &cvm.VirtualPrivateCloud{VpcId: pointer(r.VPCID), SubnetId: pointer(r.Offering.SubnetID)}
	run.SecurityGroupIds = pointers(r.SecurityGroupIDs)
	run.LoginSettings = &cvm.LoginSettings{KeyIds: pointers(r.KeyIDs)}
	if len(r.KeyIDs) == 0 {
		// With neither keys nor this, Tencent Cloud generates a password and mails it to the
		// owner.
		run.LoginSettings.KeepImageLogin = pointer("true")
	}
	run.SystemDisk, run.DataDisks = disks(r.Configuration)
	run.InternetAccessible = internet(r.Configuration)
	run.InstanceMarketOptions = marketOptions(r)
	run.TagSpecification = []*cvm.TagSpecification{{ResourceType: pointer("instance"), Tags: launchTags(r)}}
	run.UserData = optional(base64.StdEncoding.EncodeToString([]byte(r.Script())))
	run.CamRoleName = optional(r.CamRoleName)
	return run
}

func disks(c spotpool.Configuration) (*cvm.SystemDisk, []*cvm.DataDisk) {
	var system *cvm.SystemDisk
	if c.SystemDiskType != "" || c.SystemDiskSize != 0 {
		system = &cvm.SystemDisk{DiskType: optional(c.SystemDiskType), DiskSize: optional(c.SystemDiskSize)}
	}
	var data []*cvm.DataDisk
	for _, d := range c.DataDisks {
		// A disk that outlived its instance would cost money unseen.
		data = append(data, &cvm.DataDisk{DiskType: optional(d.Type), DiskSize: optional(d.Size), DeleteWithInstance: pointer(true)})
	}
	return system, data
}

func internet(c spotpool.Configuration) *cvm.InternetAccessible {
	if c.InternetMaxBandwidthOut <= 0 {
		return nil // no public address
	}
	return &cvm.InternetAccessible{
		InternetMaxBandwidthOut: pointer(c.InternetMaxBandwidthOut),
		InternetChargeType:      optional(c.InternetChargeType),
		PublicIpAssigned:        pointer(true),
	}
}

// marketOptions caps the price of spot instances. Without a cap the options are
// left out, which bids the market price (RunInstances, InstanceMarketOptions).
func marketOptions(r spotpool.Request) *cvm.InstanceMarketOptionsRequest {
	if r.ChargeType != spotpool.Spot || r.Offering.SpotMaxPrice == 0 {
		return nil
	}
	return &cvm.InstanceMarketOptionsRequest{
		MarketType: pointer("spot"),
		SpotOptions: &cvm.SpotMarketOptions{
			MaxPrice:         pointer(r.Offering.SpotMaxPrice.String()),
			SpotInstanceType: pointer("one-time"),
		},
	}
}

// launchTags are the pool's own tags and the declared ones, sorted by key. They
// also tag the disks.
func launchTags(r spotpool.Request) []*cvm.Tag {
	tags := maps.Clone(r.Tags)
	if tags == nil {
		tags = map[string]string{}
	}
	tags[spotpool.TagUID] = r.UID
	tags[spotpool.TagPool] = r.Pool
	tags[spotpool.TagSequence] = strconv.FormatInt(r.SeqTag, 10)
	tags[spotpool.TagConfiguration] = r.ConfigurationTag
	var list []*cvm.Tag
	for _, key := range slices.Sorted(maps.Keys(tags)) {
		list = append(list, &cvm.Tag{Key: pointer(key), Value: pointer(tags[key])})
	}
	return list
}
