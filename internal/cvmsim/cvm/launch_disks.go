package cvm

import (
	"strconv"

	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/launch"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/wire"
	"github.com/gpupool/terraform-provider-gpupool/internal/cvmsim/world"
)

var diskTypes = []string{
	"LOCAL_BASIC", "LOCAL_SSD", "LOCAL_NVME", "LOCAL_PRO", "CLOUD_BASIC", "CLOUD_SSD",
	"CLOUD_PREMIUM", "CLOUD_BSSD", "CLOUD_HSSD", "CLOUD_TSSD",
}

func readDisks(s *launchSpec, p launch.Params) *wire.Error {
	system := wire.Or(p.SystemDisk, launch.SystemDisk{})
	s.Instance.SystemDisk = world.Disk{Type: wire.Or(system.DiskType, "CLOUD_PREMIUM"), Size: wire.Or(system.DiskSize, 50), DeleteWithInstance: true}
	if failure := checkDisk("SystemDisk", s.Instance.SystemDisk, 20, 2048); failure != nil {
		return failure
	}
	if len(p.DataDisks) > maxDataDisks {
		return wire.Fail("InvalidParameterValue.LimitExceeded", "`DataDisks` must have at most %d disks.", maxDataDisks)
	}
	for i, d := range p.DataDisks {
		name := "DataDisks." + strconv.Itoa(i)
		if d.DiskSize == nil {
			return wire.Missing(name + ".DiskSize")
		}
		data := world.Disk{Type: wire.Or(d.DiskType, "CLOUD_PREMIUM"), Size: *d.DiskSize, DeleteWithInstance: wire.Or(d.DeleteWithInstance, true)}
		if failure := checkDisk(name, data, 10, 32000); failure != nil {
			return failure
		}
		s.Instance.DataDisks = append(s.Instance.DataDisks, data)
	}
	return nil
}

func checkDisk(name string, d world.Disk, least, most int64) *wire.Error {
	if failure := checkValue(name+".DiskType", d.Type, diskTypes...); failure != nil {
		return failure
	}
	if d.Size < least || d.Size > most {
		return wire.Fail("InvalidParameterValue.Range", "`%s.DiskSize` must be from %d to %d GiB, not %d.", name, least, most, d.Size)
	}
	return nil
}
