package cvmsim_test

import (
	"encoding/json"
	"errors"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common"
	sdkerrors "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/errors"
	tchttp "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/http"
	"github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/common/profile"
	cvm "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/cvm/v20170312"
	tag "github.com/tencentcloud/tencentcloud-sdk-go/tencentcloud/tag/v20180813"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/cvmsimtest"
)

func sdkProfile(tb testing.TB, base string) *profile.ClientProfile {
	tb.Helper()
	u, err := url.Parse(base)
	if err != nil {
		tb.Fatal(err)
	}
	p := profile.NewClientProfile()
	p.HttpProfile.Scheme = "HTTP"
	p.HttpProfile.Endpoint = u.Host
	return p
}

func sdkClient(tb testing.TB, sim *cvmsimtest.Sim, change ...func(*profile.ClientProfile)) *cvm.Client {
	tb.Helper()
	p := sdkProfile(tb, sim.URL)
	for _, c := range change {
		c(p)
	}
	client, err := cvm.NewClient(common.NewCredential(cvmsim.DemoSecretID, cvmsim.DemoSecretKey), "ap-singapore", p)
	if err != nil {
		tb.Fatal(err)
	}
	return client
}

func sdkLaunch(count int64) *cvm.RunInstancesRequest {
	r := cvm.NewRunInstancesRequest()
	r.InstanceChargeType = common.StringPtr("SPOTPAID")
	r.Placement = &cvm.Placement{Zone: common.StringPtr("ap-singapore-2")}
	r.InstanceType = common.StringPtr("GN7.2XLARGE32")
	r.ImageId = common.StringPtr("img-a1b2c3d4")
	r.InstanceCount = &count
	r.LoginSettings = &cvm.LoginSettings{KeyIds: common.StringPtrs([]string{"skey-a1b2c3d4"})}
	r.TagSpecification = []*cvm.TagSpecification{{ResourceType: common.StringPtr("instance"), Tags: []*cvm.Tag{
		{Key: common.StringPtr("gpupool/pool"), Value: common.StringPtr("train")},
	}}}
	return r
}

// The official SDK launches, finds and terminates, by either HTTP method of the
// signature method that is its default.
func TestOfficialSDK(t *testing.T) {
	t.Parallel()
	for _, method := range []string{"POST", "GET"} {
		t.Run(method, func(t *testing.T) {
			t.Parallel()
			sim := cvmsimtest.Start(t)
			client := sdkClient(t, sim, func(p *profile.ClientProfile) {
				p.HttpProfile.ReqMethod = method
			})
			run, err := client.RunInstances(sdkLaunch(2))
			if err != nil {
				t.Fatal(err)
			}
			if n := len(run.Response.InstanceIdSet); n != 2 {
				t.Fatalf("got %d ids, want 2", n)
			}
			if _, err := sim.Server.StepClock(time.Minute); err != nil {
				t.Fatal(err)
			}
			find := cvm.NewDescribeInstancesRequest()
			find.Filters = []*cvm.Filter{{Name: common.StringPtr("tag:gpupool/pool"), Values: common.StringPtrs([]string{"train"})}}
			found, err := client.DescribeInstances(find)
			if err != nil {
				t.Fatal(err)
			}
			if *found.Response.TotalCount != 2 || *found.Response.InstanceSet[0].InstanceState != "RUNNING" {
				t.Fatalf("got %d instances, the first %s", *found.Response.TotalCount, *found.Response.InstanceSet[0].InstanceState)
			}
			end := cvm.NewTerminateInstancesRequest()
			end.InstanceIds = run.Response.InstanceIdSet
			if _, err := client.TerminateInstances(end); err != nil {
				t.Fatal(err)
			}
			if _, err := sim.Server.StepClock(time.Minute); err != nil {
				t.Fatal(err)
			}
			if left := sim.Server.Instances(); len(left) != 0 {
				t.Fatalf("%d instances are left", len(left))
			}
		})
	}
}

func TestOfficialSDKSeesErrors(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	_, err := sdkClient(t, sim).RunInstances(sdkLaunch(0))
	var apiErr *sdkerrors.TencentCloudSDKError
	if !errors.As(err, &apiErr) || apiErr.Code != "InvalidParameterValue.Range" || apiErr.RequestId == "" {
		t.Fatalf("got %v, want InvalidParameterValue.Range with a request id", err)
	}
}

// One endpoint serves CVM, tag and STS. The test assumes a role and tags an instance with its
// credentials, with a signed and an unsigned payload.
func TestOfficialSDKOverServices(t *testing.T) {
	t.Parallel()
	sim := cvmsimtest.Start(t)
	id := cvmsimtest.Seed(t, sim, cvmsim.SeedRequest{})[0]
	p := sdkProfile(t, sim.URL)
	request := tchttp.NewCommonRequest("sts", "2018-08-13", "AssumeRole")
	if err := request.SetActionParameters(map[string]any{"RoleArn": cvmsimtest.RoleArn, "RoleSessionName": "sdk"}); err != nil {
		t.Fatal(err)
	}
	response := tchttp.NewCommonResponse()
	client := common.NewCommonClient(common.NewCredential(cvmsim.DemoSecretID, cvmsim.DemoSecretKey), "ap-singapore", p)
	if err := client.Send(request, response); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Response struct {
			Credentials struct {
				Token, TmpSecretKey string
				TmpSecretID         string `json:"TmpSecretId"`
			}
		}
	}
	if err := json.Unmarshal(response.GetBody(), &answer); err != nil {
		t.Fatal(err)
	}
	keys := answer.Response.Credentials
	for _, unsigned := range []bool{false, true} {
		p := sdkProfile(t, sim.URL)
		p.UnsignedPayload = unsigned
		tags, err := tag.NewClient(common.NewTokenCredential(keys.TmpSecretID, keys.TmpSecretKey, keys.Token), "ap-singapore", p)
		if err != nil {
			t.Fatal(err)
		}
		r := tag.NewTagResourcesRequest()
		r.ResourceList = common.StringPtrs([]string{cvmsimtest.Resource(id)})
		r.Tags = []*tag.Tag{{TagKey: common.StringPtr("unsigned"), TagValue: common.StringPtr(strconv.FormatBool(unsigned))}}
		if _, err := tags.TagResources(r); err != nil {
			t.Fatal(err)
		}
		if got := cvmsimtest.TagsOf(sim, id)["unsigned"]; got != strconv.FormatBool(unsigned) {
			t.Errorf("unsigned payload %v: the tag is %q", unsigned, got)
		}
	}
}
