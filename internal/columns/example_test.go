package columns_test

import (
	"errors"
	"fmt"

	"github.com/gpupool/terraform-provider-gpupool/internal/columns"
)

// Documents are read column by column, within limits that their writer cannot raise.
func ExampleTable() {
	type row struct {
		Pod  string `parquet:"pod,dict,zstd"`
		GPUs int64  `parquet:"gpus,delta,zstd"`
	}
	document, err := columns.Encode([]row{{"a", 1}, {"b", 8}}, "cluster", "uid-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	table, err := columns.NewTable[row]()
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(table.Read(document), table.Text("cluster"))
	for range table.Rows {
		pods, gpus := &table.Columns[0], &table.Columns[1]
		pods.Next()
		gpus.Next()
		fmt.Println(pods.Text(0), gpus.Number())
	}
	fmt.Println(errors.Is(table.Read(document[:len(document)-1]), columns.ErrForm))
	// Output:
	// <nil> uid-1
	// a 1
	// b 8
	// true
}
