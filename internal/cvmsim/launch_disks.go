package cvmsim

import (
	"slices"
	"strconv"
)

var diskTypes = []string{
	"LOCAL_BASIC", "LOCAL_SSD", "LOCAL_NVME", "LOCAL_PRO", "CLOUD_BASIC", "CLOUD_SSD",
	"CLOUD_PREMIUM", "CLOUD_BSSD", "CLOUD_HSSD", "CLOUD_TSSD",
}

func readDisks(s *launchSpec, p launchParams) *apiError {
	system := or(p.SystemDisk, systemDiskParams{})
	s.template.SystemDisk = disk{Type: or(system.DiskType, "CLOUD_PREMIUM"), Size: or(system.DiskSize, 50), DeleteWithInstance: true}
	if failure := checkDisk("SystemDisk", s.template.SystemDisk, 20, 2048); failure != nil {
		return failure
	}
	if len(p.DataDisks) > maxDataDisks {
		return fail("InvalidParameterValue.LimitExceeded", "`DataDisks` must have at most %d disks.", maxDataDisks)
	}
	for i, d := range p.DataDisks {
		name := "DataDisks." + strconv.Itoa(i)
		if d.DiskSize == nil {
			return missing(name + ".DiskSize")
		}
		data := disk{Type: or(d.DiskType, "CLOUD_PREMIUM"), Size: *d.DiskSize, DeleteWithInstance: or(d.DeleteWithInstance, true)}
		if failure := checkDisk(name, data, 10, 32000); failure != nil {
			return failure
		}
		s.template.DataDisks = append(s.template.DataDisks, data)
	}
	return nil
}

func checkDisk(name string, d disk, least, most int64) *apiError {
	if !slices.Contains(diskTypes, d.Type) {
		return fail("InvalidParameterValue", "`%s.DiskType` has no value `%s`.", name, printable(d.Type))
	}
	if d.Size < least || d.Size > most {
		return fail("InvalidParameterValue.Range", "`%s.DiskSize` must be from %d to %d GiB, not %d.", name, least, most, d.Size)
	}
	return nil
}
