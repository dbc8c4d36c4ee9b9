package world

import (
	"slices"
	"strings"
)

// The charge types that the local CVM sells.
const (
	ChargeSpot    = "SPOTPAID"
	ChargeHourly  = "POSTPAID_BY_HOUR"
	ChargePrepaid = "PREPAID"
)

// ChargeTypes are all charge types.
var ChargeTypes = []string{ChargeHourly, ChargePrepaid, ChargeSpot}

type region struct {
	ID, Name string
	Zones    []zone
	// NoSpot says that the region sells no spot instances.
	NoSpot bool
}

type zone struct {
	ID, Name, Number string
	Families         []string
	// Retired zones exist and sell nothing.
	Retired bool
	// SpotPercent is the market price of spot as a share of the list price.
	SpotPercent int64
}

// InstanceType is one instance type. ListPrice is its hourly on-demand price.
type InstanceType struct {
	Name, TypeName, CPUModel, GPUModel string
	CPU, Memory, GPU                   int64 // cores, GiB, cards
	ListPrice                          Money
}

// Family is the part of the name before the dot.
func (t *InstanceType) Family() string {
	family, _, _ := strings.Cut(t.Name, ".")
	return family
}

// The catalog by name. It never changes; the market does.
var (
	RegionByID   = map[string]*region{}
	ZoneByID     = map[string]*zone{}
	RegionOfZone = map[string]*region{}
	TypeByName   = map[string]*InstanceType{}
)

func init() {
	for _, r := range Regions {
		RegionByID[r.ID] = r
		for i := range r.Zones {
			ZoneByID[r.Zones[i].ID], RegionOfZone[r.Zones[i].ID] = &r.Zones[i], r
		}
	}
	for _, t := range typeList {
		TypeByName[t.Name] = t
	}
}

// Regions are those of the catalog, with their zones.
var Regions = []*region{
	{ID: "ap-singapore", Name: "Southeast Asia Pacific (Singapore)", Zones: []zone{
		{ID: "ap-singapore-1", Name: "Singapore Zone 1", Number: "900001", Families: []string{"S5", "GN10Xp", "PNV4"}, SpotPercent: 22},
		{ID: "ap-singapore-2", Name: "Singapore Zone 2", Number: "900002", Families: []string{"S5", "GN7", "GT4", "PNV4"}, SpotPercent: 20},
		{ID: "ap-singapore-3", Name: "Singapore Zone 3", Number: "900003", Families: []string{"S5", "GN7", "GN10X", "PNV4"}, SpotPercent: 22},
		{ID: "ap-singapore-4", Name: "Singapore Zone 4", Number: "900004", Families: []string{"S5", "GN7", "GI3X"}, SpotPercent: 21},
		// Not every zone name is the region and a number. Tencent Cloud has edge zones (cvm
		// errors.go, InvalidParameter.OnlySupportForEdgeZone). This name is assumed, documented
		// nowhere; otherwise the zone is like any other.
		{ID: "ap-singapore-ez-1", Name: "Singapore Edge Zone 1", Number: "900101", Families: []string{"GN8"}, SpotPercent: 21},
	}},
	{ID: "ap-guangzhou", Name: "South China (Guangzhou)", Zones: []zone{
		{ID: "ap-guangzhou-2", Name: "Guangzhou Zone 2", Number: "100002", Retired: true},
		{ID: "ap-guangzhou-3", Name: "Guangzhou Zone 3", Number: "100003", Families: []string{"S5", "GN7", "GN8", "GN10Xp"}, SpotPercent: 20},
		{ID: "ap-guangzhou-6", Name: "Guangzhou Zone 6", Number: "100006", Families: []string{"S5", "GN7", "GT4", "PNV4"}, SpotPercent: 21},
		{ID: "ap-guangzhou-7", Name: "Guangzhou Zone 7", Number: "100007", Families: []string{"S5", "GI3X", "PNV4"}, SpotPercent: 20},
	}},
	{ID: "ap-shanghai", Name: "East China (Shanghai)", Zones: []zone{
		{ID: "ap-shanghai-2", Name: "Shanghai Zone 2", Number: "200002", Families: []string{"S5", "GN7", "GN8", "GN10X"}, SpotPercent: 20},
		{ID: "ap-shanghai-4", Name: "Shanghai Zone 4", Number: "200004", Families: []string{"S5", "GN7", "GT4"}, SpotPercent: 20},
		{ID: "ap-shanghai-5", Name: "Shanghai Zone 5", Number: "200005", Families: []string{"S5", "GI3X", "PNV4"}, SpotPercent: 23},
	}},
	{ID: "ap-beijing", Name: "North China (Beijing)", Zones: []zone{
		{ID: "ap-beijing-3", Name: "Beijing Zone 3", Number: "800003", Families: []string{"S5", "GN7", "GN10Xp"}, SpotPercent: 20},
		{ID: "ap-beijing-5", Name: "Beijing Zone 5", Number: "800005", Families: []string{"S5", "GN7", "GT4", "PNV4"}, SpotPercent: 22},
		{ID: "ap-beijing-6", Name: "Beijing Zone 6", Number: "800006", Families: []string{"S5", "GI3X"}, SpotPercent: 20},
	}},
	{ID: "ap-nanjing", Name: "East China (Nanjing)", Zones: []zone{
		{ID: "ap-nanjing-1", Name: "Nanjing Zone 1", Number: "330001", Families: []string{"S5", "GN7", "GN10Xp"}, SpotPercent: 20},
		{ID: "ap-nanjing-2", Name: "Nanjing Zone 2", Number: "330002", Families: []string{"S5", "GN7", "PNV4"}, SpotPercent: 20},
	}},
	{ID: "ap-hongkong", Name: "Hong Kong/Macao/Taiwan (Hong Kong, China)", Zones: []zone{
		{ID: "ap-hongkong-2", Name: "Hong Kong Zone 2", Number: "300002", Families: []string{"S5", "GN7"}, SpotPercent: 24},
		{ID: "ap-hongkong-3", Name: "Hong Kong Zone 3", Number: "300003", Families: []string{"S5", "GN10Xp", "PNV4"}, SpotPercent: 24},
	}},
	{ID: "ap-tokyo", Name: "Northeast Asia Pacific (Tokyo)", Zones: []zone{
		{ID: "ap-tokyo-1", Name: "Tokyo Zone 1", Number: "2500001", Families: []string{"S5", "GN7"}, SpotPercent: 25},
		{ID: "ap-tokyo-2", Name: "Tokyo Zone 2", Number: "2500002", Families: []string{"S5", "GN7", "PNV4"}, SpotPercent: 24},
	}},
	{ID: "eu-frankfurt", Name: "Europe (Frankfurt)", Zones: []zone{
		{ID: "eu-frankfurt-1", Name: "Frankfurt Zone 1", Number: "1700001", Families: []string{"S5", "GN7"}, SpotPercent: 24},
		{ID: "eu-frankfurt-2", Name: "Frankfurt Zone 2", Number: "1700002", Families: []string{"S5", "GN7", "PNV4"}, SpotPercent: 25},
	}},
	{ID: "na-siliconvalley", Name: "Western US (Silicon Valley)", Zones: []zone{
		{ID: "na-siliconvalley-1", Name: "Silicon Valley Zone 1", Number: "1500001", Families: []string{"S5", "GN7", "GN8"}, SpotPercent: 22},
		{ID: "na-siliconvalley-2", Name: "Silicon Valley Zone 2", Number: "1500002", Families: []string{"S5", "GN7", "PNV4"}, SpotPercent: 22},
	}},
	{ID: "sa-saopaulo", Name: "South America (São Paulo)", NoSpot: true, Zones: []zone{
		{ID: "sa-saopaulo-1", Name: "São Paulo Zone 1", Number: "3000001", Families: []string{"S5", "GN7"}},
		{ID: "sa-saopaulo-2", Name: "São Paulo Zone 2", Number: "3000002", Families: []string{"S5"}},
	}},
}

// typeList is the instance types of each family, in order: cores, GiB, cards, and fen an hour.
var typeList = slices.Concat(
	family("S5", "Standard S5", "Intel Xeon Cascade Lake 8255C", "",
		model{"MEDIUM4", 2, 4, 0, 32},
		model{"LARGE8", 4, 8, 0, 64},
		model{"2XLARGE16", 8, 16, 0, 128}),
	family("GN7", "GPU Compute GN7", "Intel Xeon Cascade Lake 8255C", "NVIDIA T4",
		model{"2XLARGE32", 8, 32, 1, 950},
		model{"5XLARGE80", 20, 80, 1, 1340},
		model{"10XLARGE160", 40, 160, 2, 2680},
		model{"20XLARGE320", 80, 320, 4, 5360}),
	family("GI3X", "GPU Compute GI3X", "AMD EPYC ROME", "NVIDIA T4",
		model{"8XLARGE64", 32, 64, 1, 1140},
		model{"22XLARGE226", 90, 226, 2, 2690}),
	family("GN8", "GPU Compute GN8", "Intel Xeon E5-2680 Broadwell v4", "NVIDIA P40",
		model{"LARGE56", 6, 56, 1, 1590},
		model{"3XLARGE112", 14, 112, 2, 3180}),
	family("GN10X", "GPU Compute GN10X", "Intel Xeon Gold 6133 Skylake", "NVIDIA V100",
		model{"2XLARGE40", 8, 40, 1, 1760}),
	family("GN10Xp", "GPU Compute GN10Xp", "Intel Xeon Cascade Lake 8255C", "NVIDIA V100",
		model{"2XLARGE40", 10, 40, 1, 1870},
		model{"5XLARGE80", 20, 80, 2, 3740},
		model{"10XLARGE160", 40, 160, 4, 7480},
		model{"20XLARGE320", 80, 320, 8, 14960}),
	family("PNV4", "GPU Compute PNV4", "AMD EPYC Milan", "NVIDIA A10",
		model{"7XLARGE116", 28, 116, 1, 1890},
		model{"14XLARGE232", 56, 232, 2, 3780},
		model{"28XLARGE466", 112, 466, 4, 7560},
		model{"56XLARGE932", 224, 932, 8, 15120}),
	family("GT4", "GPU Compute GT4", "AMD EPYC ROME", "NVIDIA A100",
		model{"4XLARGE96", 16, 96, 1, 2820},
		model{"8XLARGE192", 32, 192, 2, 5640},
		model{"20XLARGE474", 82, 474, 4, 11280},
		model{"41XLARGE948", 164, 948, 8, 22560}),
)

type model struct {
	size                  string
	cpu, memory, gpu, fen int64
}

func family(name, typeName, cpu, gpu string, models ...model) []*InstanceType {
	var list []*InstanceType
	for _, m := range models {
		list = append(list, &InstanceType{
			Name: name + "." + m.size, TypeName: typeName, CPUModel: cpu, GPUModel: gpu, CPU: m.cpu, Memory: m.memory, GPU: m.gpu, ListPrice: Fen(m.fen),
		})
	}
	return list
}

func (z *zone) sells(family string) bool { return slices.Contains(z.Families, family) }
