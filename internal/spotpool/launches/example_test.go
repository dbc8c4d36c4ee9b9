package launches_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool/launches"
)

// A launch whose answer was lost is requested again. A refusal of the repeated call does
// not close it, since the first call may have launched; its instances do.
func ExampleLaunches_Refuse() {
	noon := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	request := spotpool.Request{Sequence: 1, SeqTag: 1, Count: 1, Token: launches.Token("uid", "salt", 1)}

	s := launches.Launches{}.Open(launches.Launch{Request: request, WrittenAt: noon}).Retry(1, noon.Add(time.Minute))
	s, _, state := s.Refuse(1, &spotpool.CloudError{NothingLaunched: true}, noon.Add(time.Minute))
	fmt.Println(state, s.Missing())

	s, effects := s.Update("uid", []spotpool.Instance{{ID: "ins-1", SeqTag: 1, LaunchedAt: noon}}, noon.Add(2*time.Minute))
	fmt.Println(len(s.Pending), effects[0].InstanceIDs)
	// Output:
	// unknown 1
	// 0 [ins-1]
}
