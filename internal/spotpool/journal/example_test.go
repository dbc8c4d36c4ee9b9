package journal_test

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/journal"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// A launch and its event are one value, and so one write. All parts of a journal are in one
// document.
func ExampleJournal_Accept() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	d := spotpool.Declaration{Region: "ap-singapore", Name: "train", UID: "u"}
	request := spotpool.Request{
		Sequence: 1, SeqTag: 1, Count: 1, ChargeType: spotpool.Spot, Offering: spotpool.Offering{AvailabilityZone: "ap-singapore-2", InstanceType: "GN7"},
	}
	j := journal.New(d, noon).Salted("salt").Open(launches.Launch{Request: request, WrittenAt: noon})
	j = j.Accept(1, []string{"ins-1"}, noon.Add(time.Second))
	for _, e := range j.Unreported {
		fmt.Println(e.Kind, e.InstanceIDs)
	}
	j.Unreported = nil
	text, _ := json.MarshalIndent(j, "", "  ")
	fmt.Println(string(text))
	// Output:
	// create []
	// launch [ins-1]
	// started [ins-1]
	// {
	//   "salt": "salt",
	//   "last_sequence": 1,
	//   "known": [
	//     {
	//       "instance_id": "ins-1",
	//       "availability_zone": "ap-singapore-2",
	//       "instance_type": "GN7",
	//       "charge_type": "SPOTPAID",
	//       "seq": 1,
	//       "recorded_at": "2026-03-01T12:00:01Z"
	//     }
	//   ],
	//   "object": "spot_pool/ap-singapore/train",
	//   "uid": "u"
	// }
}
