package oncall

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/gpupool/terraform-provider-gpupool/internal/cli"
	"github.com/gpupool/terraform-provider-gpupool/internal/spotpool"
)

// Additional environment variables of the processes in a scene.
const (
	envNow = "ONCALL_NOW" // what their clock reads all the time
	envTTY = "ONCALL_TTY" // set where they write to a terminal
)

// TestMain puts gpupool and apply on PATH, as copies of the test's own binary.
func TestMain(m *testing.M) {
	testscript.Main(eager{m}, map[string]func(){
		"gpupool": func() { os.Exit(cli.Run(process())) },
		"apply":   func() { os.Exit(apply()) },
	})
}

// eager runs more tests at once than there are processors, since they wait for
// processes and pods.
type eager struct{ *testing.M }

func (m eager) Run() int {
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		_ = flag.Set("test.parallel", "8")
	}
	return m.M.Run()
}

// process is this one as gpupool sees it, with the clock and the terminal of its scene.
func process() cli.Process {
	p := cli.ThisProcess(cli.Build{Version: "1.2.3"})
	p.Now = clock
	p.Terminal = func(io.Writer) (int, int, bool) { return columns, rows, os.Getenv(envTTY) != "" }
	return p
}

func clock() time.Time {
	now, err := time.Parse(time.RFC3339Nano, os.Getenv(envNow))
	if err != nil {
		panic(err)
	}
	return now
}

// apply creates the pool that its argument declares, as terraform apply does.
func apply() int {
	var d spotpool.Declaration
	if err := json.Unmarshal([]byte(os.Args[1]), &d); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	p, err := newProcess(".gpupool", os.Getenv("GPUPOOL_ENDPOINT"), clock)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 2
	}
	if _, err := p.SpotPools().Create(context.Background(), d, 20*time.Second); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
