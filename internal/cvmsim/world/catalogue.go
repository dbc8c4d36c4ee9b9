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

// ChargeTypes are all of them.
var ChargeTypes = []string{ChargeHourly, ChargePrepaid, ChargeSpot}

// region is a region of the catalogue.
type region struct {
	ID, Name string
	Zones    []zone
	// NoSpot says that the region sells no spot instances at all.
	NoSpot bool
}

// zone is an availability zone, with the families that are sold in it.
type zone struct {
	ID, Name, Number string
	Families         []string
	// Retired zones exist and sell nothing.
	Retired bool
	// SpotPercent is the market price of spot as a share of the list price.
	SpotPercent int64
}

// InstanceType is one model. ListPrice is its hourly price on demand.
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

// The catalogue by name. It never changes; the market does.
var (
	RegionByID   = regionsByID()
	ZoneByID     = zonesByID()
	RegionOfZone = regionsByZone()
	TypeByName   = typesByName()
)

func regionsByID() map[string]*region {
	table := map[string]*region{}
	for _, r := range Regions {
		table[r.ID] = r
	}
	return table
}

func zonesByID() map[string]*zone {
	table := map[string]*zone{}
	for _, r := range Regions {
		for i := range r.Zones {
			table[r.Zones[i].ID] = &r.Zones[i]
		}
	}
	return table
}

func regionsByZone() map[string]*region {
	table := map[string]*region{}
	for _, r := range Regions {
		for _, z := range r.Zones {
			table[z.ID] = r
		}
	}
	return table
}

func typesByName() map[string]*InstanceType {
	table := map[string]*InstanceType{}
	for _, t := range typeList {
		table[t.Name] = t
	}
	return table
}

// Regions are those of the catalogue, with their zones.
var Regions = []*region{
	{ID: "ap-singapore", Name: "Southeast Asia Pacific (Singapore)", Zones: []zone{
		{ID: "ap-singapore-1", Name: "Singapore Zone 1", Number: "900001", Families: []string{"S5", "GN10Xp", "PNV4"}, SpotPercent: 22},
		{ID: "ap-singapore-2", Name: "Singapore Zone 2", Number: "900002", Families: []string{"S5", "GN7", "GT4", "PNV4"}, SpotPercent: 20},
		{ID: "ap-singapore-3", Name: "Singapore Zone 3", Number: "900003", Families: []string{"S5", "GN7", "GN10X", "PNV4"}, SpotPercent: 22},
		{ID: "ap-singapore-4", Name: "Singapore Zone 4", Number: "900004", Families: []string{"S5", "GN7", "GI3X"}, SpotPercent: 21},
		// Not every zone is the region and a number. The cloud has edge zones
		// (cvm errors.go, InvalidParameter.OnlySupportForEdgeZone); this name of
		// one is assumed, documented nowhere, and nothing else is special here.
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

var typeList = []*InstanceType{
	{Name: "S5.MEDIUM4", TypeName: "Standard S5", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 2, Memory: 4, ListPrice: Fen(32)},
	{Name: "S5.LARGE8", TypeName: "Standard S5", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 4, Memory: 8, ListPrice: Fen(64)},
	{Name: "S5.2XLARGE16", TypeName: "Standard S5", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 8, Memory: 16, ListPrice: Fen(128)},
	{
		Name: "GN7.2XLARGE32", TypeName: "GPU Compute GN7", GPUModel: "NVIDIA T4", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 8, Memory: 32, GPU: 1,
		ListPrice: Fen(950),
	},
	{
		Name: "GN7.5XLARGE80", TypeName: "GPU Compute GN7", GPUModel: "NVIDIA T4", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 20, Memory: 80, GPU: 1,
		ListPrice: Fen(1340),
	},
	{
		Name: "GN7.10XLARGE160", TypeName: "GPU Compute GN7", GPUModel: "NVIDIA T4", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 40, Memory: 160, GPU: 2,
		ListPrice: Fen(2680),
	},
	{
		Name: "GN7.20XLARGE320", TypeName: "GPU Compute GN7", GPUModel: "NVIDIA T4", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 80, Memory: 320, GPU: 4,
		ListPrice: Fen(5360),
	},
	{Name: "GI3X.8XLARGE64", TypeName: "GPU Compute GI3X", GPUModel: "NVIDIA T4", CPUModel: "AMD EPYC ROME", CPU: 32, Memory: 64, GPU: 1, ListPrice: Fen(1140)},
	{
		Name: "GI3X.22XLARGE226", TypeName: "GPU Compute GI3X", GPUModel: "NVIDIA T4", CPUModel: "AMD EPYC ROME", CPU: 90, Memory: 226, GPU: 2,
		ListPrice: Fen(2690),
	},
	{
		Name: "GN8.LARGE56", TypeName: "GPU Compute GN8", GPUModel: "NVIDIA P40", CPUModel: "Intel Xeon E5-2680 Broadwell v4", CPU: 6, Memory: 56, GPU: 1,
		ListPrice: Fen(1590),
	},
	{
		Name: "GN8.3XLARGE112", TypeName: "GPU Compute GN8", GPUModel: "NVIDIA P40", CPUModel: "Intel Xeon E5-2680 Broadwell v4", CPU: 14, Memory: 112, GPU: 2,
		ListPrice: Fen(3180),
	},
	{
		Name: "GN10X.2XLARGE40", TypeName: "GPU Compute GN10X", GPUModel: "NVIDIA V100", CPUModel: "Intel Xeon Gold 6133 Skylake", CPU: 8, Memory: 40, GPU: 1,
		ListPrice: Fen(1760),
	},
	{
		Name: "GN10Xp.2XLARGE40", TypeName: "GPU Compute GN10Xp", GPUModel: "NVIDIA V100", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 10, Memory: 40,
		GPU: 1, ListPrice: Fen(1870),
	},
	{
		Name: "GN10Xp.5XLARGE80", TypeName: "GPU Compute GN10Xp", GPUModel: "NVIDIA V100", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 20, Memory: 80,
		GPU: 2, ListPrice: Fen(3740),
	},
	{
		Name: "GN10Xp.10XLARGE160", TypeName: "GPU Compute GN10Xp", GPUModel: "NVIDIA V100", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 40, Memory: 160,
		GPU: 4, ListPrice: Fen(7480),
	},
	{
		Name: "GN10Xp.20XLARGE320", TypeName: "GPU Compute GN10Xp", GPUModel: "NVIDIA V100", CPUModel: "Intel Xeon Cascade Lake 8255C", CPU: 80, Memory: 320,
		GPU: 8, ListPrice: Fen(14960),
	},
	{
		Name: "PNV4.7XLARGE116", TypeName: "GPU Compute PNV4", GPUModel: "NVIDIA A10", CPUModel: "AMD EPYC Milan", CPU: 28, Memory: 116, GPU: 1,
		ListPrice: Fen(1890),
	},
	{
		Name: "PNV4.14XLARGE232", TypeName: "GPU Compute PNV4", GPUModel: "NVIDIA A10", CPUModel: "AMD EPYC Milan", CPU: 56, Memory: 232, GPU: 2,
		ListPrice: Fen(3780),
	},
	{
		Name: "PNV4.28XLARGE466", TypeName: "GPU Compute PNV4", GPUModel: "NVIDIA A10", CPUModel: "AMD EPYC Milan", CPU: 112, Memory: 466, GPU: 4,
		ListPrice: Fen(7560),
	},
	{
		Name: "PNV4.56XLARGE932", TypeName: "GPU Compute PNV4", GPUModel: "NVIDIA A10", CPUModel: "AMD EPYC Milan", CPU: 224, Memory: 932, GPU: 8,
		ListPrice: Fen(15120),
	},
	{Name: "GT4.4XLARGE96", TypeName: "GPU Compute GT4", GPUModel: "NVIDIA A100", CPUModel: "AMD EPYC ROME", CPU: 16, Memory: 96, GPU: 1, ListPrice: Fen(2820)},
	{
		Name: "GT4.8XLARGE192", TypeName: "GPU Compute GT4", GPUModel: "NVIDIA A100", CPUModel: "AMD EPYC ROME", CPU: 32, Memory: 192, GPU: 2,
		ListPrice: Fen(5640),
	},
	{
		Name: "GT4.20XLARGE474", TypeName: "GPU Compute GT4", GPUModel: "NVIDIA A100", CPUModel: "AMD EPYC ROME", CPU: 82, Memory: 474, GPU: 4,
		ListPrice: Fen(11280),
	},
	{
		Name: "GT4.41XLARGE948", TypeName: "GPU Compute GT4", GPUModel: "NVIDIA A100", CPUModel: "AMD EPYC ROME", CPU: 164, Memory: 948, GPU: 8,
		ListPrice: Fen(22560),
	},
}

// sells reports whether a zone of the catalogue sells a family.
func (z *zone) sells(family string) bool { return slices.Contains(z.Families, family) }
