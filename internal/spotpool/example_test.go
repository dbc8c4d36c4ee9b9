package spotpool_test

import (
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Prices are integers of millionths, so that sums and comparisons are exact.
func ExampleParsePrice() {
	price, _ := spotpool.ParsePrice("0.10")
	fmt.Println(price+price+price == 300_000, price+price+price)
	// Output: true 0.30
}
