package spotpool

import (
	"encoding/base64"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gpupool/terraform-provider-gpupool/internal/problem"
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
	v.Add(attribute, fmt.Sprintf("Write %q and then eight lower-case letters and digits, as the console shows it.", prefix),
		"invalid ID %q: it must begin with %q", value, prefix)
}

// ids is id for a list without duplicates.
func (v *validator) ids(attribute, prefix string, values []string) {
	for n, value := range values {
		at := fmt.Sprintf("%s[%d]", attribute, n)
		v.id(at, prefix, value)
		if before := slices.Index(values, value); before < n {
			v.Add(at, "Omit one of them.", "%q is listed already, as %s[%d]", value, attribute, before)
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
		v.Add("cam_role_name", fmt.Sprintf("Write the role's name, not its ARN: at most %d letters, digits and _+=,.@-.", maxRoleName),
			"invalid CAM role name %q", c.CamRoleName)
	}
	v.Within("internet_max_bandwidth_out", c.InternetMaxBandwidthOut, 0, maxBandwidth, " Mbit/s", "Omit it for no public address.")
	switch {
	case c.InternetChargeType == bandwidthPrepaid:
		v.Add("internet_charge_type", "Choose one of "+strings.Join(bandwidthTypes, ", ")+".",
			"%s is for prepaid instances, and a pool's are paid by the hour", bandwidthPrepaid)
	case c.InternetChargeType != "" && c.InternetMaxBandwidthOut == 0:
		v.Add("internet_charge_type", "Set internet_max_bandwidth_out, or omit internet_charge_type.", "an instance without a public address has no "+
			"internet traffic")
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
		v.Within("system_disk_size", c.SystemDiskSize, minSystemDisk, maxSystemDisk, " GiB", "Use data disks for more space.")
	}
	local := 0
	for n, disk := range c.DataDisks {
		at := fmt.Sprintf("data_disks[%d]", n)
		if strings.HasPrefix(disk.Type, "LOCAL_") {
			local++
		}
		problem.OneOf(&v.List, at+".data_disk_type", disk.Type, systemDiskTypes...)
		v.Within(at+".data_disk_size", disk.Size, minDataDisk, maxDataDisk, " GiB", "Use several disks for more space.")
		if disk.Size%dataDiskStep != 0 {
			v.Add(at+".data_disk_size", fmt.Sprintf("Use %d.", (disk.Size/dataDiskStep+1)*dataDiskStep), "%d GiB is not a multiple of %d, the step of data "+
				"disks", disk.Size, dataDiskStep)
		}
	}
	if cloud := len(c.DataDisks) - local; cloud > maxCloudDisks {
		v.Add("data_disks", "Use fewer and larger ones.", "%d data disks are too many: an instance has at most %d", cloud, maxCloudDisks)
	}
	if local > maxLocalDisks {
		v.Add("data_disks", "Use cloud disks in addition to it.", "%d local data disks are too many: an instance has at most %d", local, maxLocalDisks)
	}
}

func (v *validator) userData() {
	if v.d.UserDataWOVersion < 0 {
		v.Add("user_data_raw_wo_version", "Begin with 1, and add 1 with each change of user_data_raw_wo.", "invalid version %d", v.d.UserDataWOVersion)
	}
	data := insertToken(v.d.Script(), strings.Repeat("x", TokenIDLength+1+TokenSecretLength))
	if size := base64.StdEncoding.EncodedLen(len(data)); size > maxUserData {
		v.Add("user_data_raw", "Let it download large files.", "user data of %d bytes is too long: it has %d bytes as base64, and RunInstances takes %d "+
			"(that is %d bytes before)", len(data), size, maxUserData, base64.StdEncoding.DecodedLen(maxUserData))
	}
	if !utf8.ValidString(data) {
		v.Add("user_data_raw", "Write it as text; let it download or decode binary data.", "user data is not UTF-8 text")
	}
}
