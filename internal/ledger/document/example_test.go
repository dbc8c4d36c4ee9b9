package document_test

import (
	"fmt"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger/document"
)

// An interval is stored by the hour for two days, and then by the day.
func Example() {
	ended := time.Date(2026, 11, 20, 5, 30, 0, 0, time.UTC)
	bin := document.BinAt(ended.UnixMilli(), "a pod's UID")
	for _, later := range []time.Duration{time.Hour, 72 * time.Hour} {
		fmt.Println(document.Part{Shard: document.ShardOf(bin, ended.Add(later).UnixMilli()), Number: 1, Parts: 1})
	}
	// Output:
	// closed-2026-11-20-05.parquet
	// closed-2026-11-20.parquet
}
