package history_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/history"
)

// A run that was killed after it told a launch tells it again, later and as another run:
// it is the same event.
func ExampleMerge() {
	written := time.Date(2030, 1, 1, 9, 0, 0, 0, time.UTC)
	about := history.About{At: written, Object: "spot_pool/ap-singapore/train", ObjectUID: "uid-1", RunID: "run-1"}
	launch := history.Ask{Sequence: 7, WrittenAt: written, Count: 2}
	first := about.Launched(launch)
	about.At, about.RunID = written.Add(5*time.Minute), "run-2"
	events, added := history.Merge([]history.Event{first}, about.Launched(launch))
	fmt.Println(len(events), added, events[0].RunID)

	launch.Sequence++
	_, added = history.Merge(events, about.Launched(launch))
	fmt.Println(added)
	// Output:
	// 1 0 run-1
	// 1
}
