package spotpool

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
	"github.com/gpupool/terraform-provider-gpupool/internal/reason"
)

// Limits of one RunInstances (Tencent CVM, RunInstances; Go SDK,
// cvm/v20170312/models.go).
const (
	maxUserData      = 16384 // bytes of base64
	maxCloudDisks    = 20    // data disks, in addition to one local disk
	maxLocalDisks    = 1
	minSystemDisk    = 20 // GiB
	maxSystemDisk    = 2048
	minDataDisk      = 10
	maxDataDisk      = 32000
	dataDiskStep     = 10
	maxBandwidth     = 10_000 // Mbit/s; each instance type allows far less
	maxRoleName      = 128
	bandwidthPrepaid = "BANDWIDTH_PREPAID"
)

var (
	systemDiskTypes = []string{"CLOUD_BSSD", "CLOUD_PREMIUM", "CLOUD_SSD", "CLOUD_HSSD", "CLOUD_TSSD", "CLOUD_BASIC", "LOCAL_BASIC", "LOCAL_SSD"}
	bandwidthTypes  = []string{"TRAFFIC_POSTPAID_BY_HOUR", "BANDWIDTH_POSTPAID_BY_HOUR", "BANDWIDTH_PACKAGE"}
	// IDs have had eight characters so far; longer ones are possible.
	idForm       = regexp.MustCompile(`^[a-z0-9]{8,32}$`)
	roleNameForm = regexp.MustCompile(`^[A-Za-z0-9_+=,.@-]+$`)
)

// id adds a problem if a value is not an ID of its kind.
func (v *validator) id(attribute, prefix, value string) {
	if rest, ok := strings.CutPrefix(value, prefix); ok && idForm.MatchString(rest) {
		return
	}
	v.Add(attribute, reason.InvalidID(reason.Quoted(value), reason.Quoted(prefix)))
}

// ids is id for a list without duplicates.
func (v *validator) ids(attribute, prefix string, values []string) {
	for n, value := range values {
		at := fmt.Sprintf("%s[%d]", attribute, n)
		v.id(at, prefix, value)
		if before := slices.Index(values, value); before < n {
			v.Add(at, reason.IDRepeated(reason.Quoted(value), reason.Word(attribute), reason.Count(before)))
		}
	}
}

func (v *validator) network() {
	c := v.d.Configuration
	v.id("vpc_id", "vpc-", c.VPCID)
	v.id("image_id", "img-", c.ImageID)
	v.ids("security_group_ids", "sg-", c.SecurityGroupIDs)
	v.ids("key_ids", "skey-", c.KeyIDs)
	if c.CamRoleName != "" && (len(c.CamRoleName) > maxRoleName || !roleNameForm.MatchString(c.CamRoleName)) {
		v.Add("cam_role_name", reason.InvalidRole(reason.Quoted(c.CamRoleName), maxRoleName))
	}
	v.Within("internet_max_bandwidth_out", c.InternetMaxBandwidthOut, 0, maxBandwidth, reason.BandwidthRange)
	switch {
	case c.InternetChargeType == bandwidthPrepaid:
		v.Add("internet_charge_type", reason.PrepaidTraffic(bandwidthPrepaid, bandwidthTypes))
	case c.InternetChargeType != "" && c.InternetMaxBandwidthOut == 0:
		v.Add("internet_charge_type", reason.NoTraffic())
	case c.InternetChargeType != "":
		problem.OneOf(&v.List, "internet_charge_type", c.InternetChargeType, bandwidthTypes...)
	}
}

func (v *validator) disks() {
	c := v.d.Configuration
	if c.SystemDiskType != "" {
		problem.OneOf(&v.List, "system_disk_type", c.SystemDiskType, systemDiskTypes...)
	}
	if c.SystemDiskSize != 0 {
		v.Within("system_disk_size", c.SystemDiskSize, minSystemDisk, maxSystemDisk, reason.SystemDiskRange)
	}
	local := 0
	for n, disk := range c.DataDisks {
		at := fmt.Sprintf("data_disks[%d]", n)
		if strings.HasPrefix(disk.Type, "LOCAL_") {
			local++
		}
		problem.OneOf(&v.List, at+".data_disk_type", disk.Type, systemDiskTypes...)
		v.Within(at+".data_disk_size", disk.Size, minDataDisk, maxDataDisk, reason.DataDiskRange)
		if disk.Size%dataDiskStep != 0 {
			v.Add(at+".data_disk_size", reason.DataDiskStep(reason.Count(disk.Size), dataDiskStep, reason.Count((disk.Size/dataDiskStep+1)*dataDiskStep)))
		}
	}
	if cloud := len(c.DataDisks) - local; cloud > maxCloudDisks {
		v.Add("data_disks", reason.TooManyDisks(reason.Count(cloud), maxCloudDisks))
	}
	if local > maxLocalDisks {
		v.Add("data_disks", reason.TooManyLocalDisks(reason.Count(local), maxLocalDisks))
	}
}

func (v *validator) userData() {
	if v.d.UserDataWOVersion < 0 {
		v.Add("user_data_raw_wo_version", reason.UserDataVersion(reason.Count(v.d.UserDataWOVersion)))
	}
	data := insertToken(v.d.Script(), strings.Repeat("x", TokenIDLength+1+TokenSecretLength))
	if size := base64.StdEncoding.EncodedLen(len(data)); size > maxUserData {
		v.Add("user_data_raw", reason.UserDataLength(
			reason.Count(len(data)), reason.Count(size), maxUserData, reason.Count(base64.StdEncoding.DecodedLen(maxUserData)),
		))
	}
	if !utf8.ValidString(data) {
		v.Add("user_data_raw", reason.UserDataBinary())
	}
}
