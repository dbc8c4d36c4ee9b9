package spotpool_test

import (
	"testing"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// full is a configuration in which everything is set.
func full() spotpool.Configuration {
	return spotpool.Configuration{
		VPCID: "vpc-a1b2c3d4", SecurityGroupIDs: []string{"sg-a1b2c3d4", "sg-e5f6a7b8"}, ImageID: "img-a1b2c3d4",
		KeyIDs: []string{"skey-a1b2c3d4", "skey-e5f6a7b8"}, SystemDiskType: "CLOUD_BSSD", SystemDiskSize: 100,
		DataDisks: []spotpool.DataDisk{{Type: "CLOUD_BSSD", Size: 200}}, InternetMaxBandwidthOut: 1,
		UserData: "#!/bin/sh\n", CamRoleName: "gpu-node", ProjectID: 7, Tags: map[string]string{"team": "a", "stage": "test"},
	}
}

// A changed hash makes every running instance of every pool drifted. It needs a new
// ConfigurationVersion, under which old hashes are ignored. A new default of an omitted field
// changes the hash, too.
func TestConfigurationTagsNeverMove(t *testing.T) {
	t.Parallel()
	withDefaults := func(c spotpool.Configuration) spotpool.Configuration {
		return spotpool.Declaration{Configuration: c}.WithDefaults().Configuration
	}
	everything, nothing := withDefaults(full()), withDefaults(spotpool.Configuration{})
	emptyBlocks := withDefaults(spotpool.Configuration{DataDisks: []spotpool.DataDisk{{}}})
	for name, c := range map[string]struct{ got, want string }{
		"everything set, spot":      {spotpool.ConfigurationTag(everything, offering(zone2, t4), spotpool.Spot), "1:e712df76a874d571"},
		"everything set, on-demand": {spotpool.ConfigurationTag(everything, offering(zone2, t4), spotpool.OnDemand), "1:a654109c53a8fd8a"},
		"nothing set":               {spotpool.ConfigurationTag(nothing, spotpool.Offering{}, ""), "1:abe60365c019d855"},
		"blocks with nothing set":   {spotpool.ConfigurationTag(emptyBlocks, spotpool.Offering{}, ""), "1:6ed0d55773c4da6c"},
		"adopted":                   {spotpool.UnknownConfigurationTag(everything), "1:unknown@c223a46a5c8ffe0f"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if c.got != c.want {
				t.Errorf("the tag is %q, and was %q", c.got, c.want)
			}
		})
	}
}

func TestConfigurationTag(t *testing.T) {
	t.Parallel()
	base := spotpool.ConfigurationTag(full(), offering(zone2, t4), spotpool.Spot)
	tag := func(change func(*spotpool.Configuration, *spotpool.Offering)) string {
		c, o := full(), offering(zone2, t4)
		change(&c, &o)
		return spotpool.ConfigurationTag(c, o, spotpool.Spot)
	}
	for name, change := range map[string]func(*spotpool.Configuration, *spotpool.Offering){
		"VPC":             func(c *spotpool.Configuration, _ *spotpool.Offering) { c.VPCID = "vpc-ffffffff" },
		"security groups": func(c *spotpool.Configuration, _ *spotpool.Offering) { c.SecurityGroupIDs = c.SecurityGroupIDs[:1] },
		"priority of security groups": func(c *spotpool.Configuration, _ *spotpool.Offering) {
			c.SecurityGroupIDs[0], c.SecurityGroupIDs[1] = c.SecurityGroupIDs[1], c.SecurityGroupIDs[0]
		},
		"image":         func(c *spotpool.Configuration, _ *spotpool.Offering) { c.ImageID = "img-ffffffff" },
		"keys":          func(c *spotpool.Configuration, _ *spotpool.Offering) { c.KeyIDs = nil },
		"system disk":   func(c *spotpool.Configuration, _ *spotpool.Offering) { c.SystemDiskSize++ },
		"data disks":    func(c *spotpool.Configuration, _ *spotpool.Offering) { c.DataDisks[0].Size++ },
		"internet":      func(c *spotpool.Configuration, _ *spotpool.Offering) { c.InternetMaxBandwidthOut = 0 },
		"user data":     func(c *spotpool.Configuration, _ *spotpool.Offering) { c.UserData = "" },
		"role":          func(c *spotpool.Configuration, _ *spotpool.Offering) { c.CamRoleName = "" },
		"project":       func(c *spotpool.Configuration, _ *spotpool.Offering) { c.ProjectID = 0 },
		"tags":          func(c *spotpool.Configuration, _ *spotpool.Offering) { c.Tags["team"] = "b" },
		"zone":          func(_ *spotpool.Configuration, o *spotpool.Offering) { o.AvailabilityZone = zone3 },
		"instance type": func(_ *spotpool.Configuration, o *spotpool.Offering) { o.InstanceType = a10 },
		"subnet":        func(_ *spotpool.Configuration, o *spotpool.Offering) { o.SubnetID = "subnet-ffffffff" },
	} {
		if tag(change) == base {
			t.Errorf("another %s gives the same tag", name)
		}
	}
	for name, change := range map[string]func(*spotpool.Configuration, *spotpool.Offering){
		"price cap": func(_ *spotpool.Configuration, o *spotpool.Offering) { o.SpotMaxPrice = yuan("1") },
		"order of keys": func(c *spotpool.Configuration, _ *spotpool.Offering) {
			c.KeyIDs[0], c.KeyIDs[1] = c.KeyIDs[1], c.KeyIDs[0]
		},
		"empty lists": func(c *spotpool.Configuration, _ *spotpool.Offering) {
			c.DataDisks = append([]spotpool.DataDisk{}, c.DataDisks...)
		},
	} {
		if tag(change) != base {
			t.Errorf("another %s gives another tag", name)
		}
	}
	one, two := full(), full()
	one.Tags, two.Tags = map[string]string{"a=b": "c"}, map[string]string{"a": "b=c"}
	if spotpool.UnknownConfigurationTag(one) == spotpool.UnknownConfigurationTag(two) {
		t.Error("two sets of tags give the same tag")
	}
}
