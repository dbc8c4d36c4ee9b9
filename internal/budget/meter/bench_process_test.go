package meter

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpupool/terraform-provider-gpupool/internal/ledger"
	"github.com/gpupool/terraform-provider-gpupool/internal/soaktest"
)

// inProcess names the directory of a ledger's documents, to a process that is to
// do nothing but judge 1,000 budgets by them.
const inProcess = "BUDGET_BENCH_DOCUMENTS"

func TestMain(m *testing.M) {
	directory := os.Getenv(inProcess)
	if directory == "" {
		soaktest.Main(m, 100, 3000)
	}
	if err := judgeDocuments(directory); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// judgeDocuments loads a ledger as a run does, judges budgets by it, and prints
// the most memory that the process has taken, in KiB.
func judgeDocuments(directory string) error {
	l, err := loadDocuments(directory)
	if err != nil {
		return err
	}
	for _, r := range Evaluate(teams(1000, l.Len()), l.All(), l.Header, noon, time.LoadLocation) {
		if r.Err != nil {
			return r.Err
		}
	}
	return printPeak()
}

func loadDocuments(directory string) (*ledger.Ledger, error) {
	names, err := filepath.Glob(filepath.Join(directory, "*"))
	if err != nil {
		return nil, err
	}
	documents := map[string][]byte{}
	for _, name := range names {
		if documents[filepath.Base(name)], err = os.ReadFile(name); err != nil {
			return nil, err
		}
	}
	l, problems, err := ledger.Load("cluster", documents, ms(noon))
	if err == nil && len(problems) > 0 {
		err = problems[0]
	}
	return l, err
}

// printPeak prints what the system says of this process; nothing if it
// doesn't.
func printPeak() error {
	status, err := os.Open("/proc/self/status")
	if err != nil {
		return nil
	}
	defer status.Close()
	lines := bufio.NewScanner(status)
	for lines.Scan() {
		if peak, found := strings.CutPrefix(lines.Text(), "VmHWM:"); found {
			fmt.Println(strings.TrimSuffix(strings.TrimSpace(peak), " kB"))
		}
	}
	return lines.Err()
}

// BenchmarkProcess is a process that reads a ledger's documents and judges 1,000
// budgets by them. It reports the most memory that the process has taken.
func BenchmarkProcess(b *testing.B) {
	for _, pods := range []int{10_000, 100_000, 1_000_000} {
		b.Run(fmt.Sprintf("intervals=%d", pods), func(b *testing.B) {
			directory, peak := b.TempDir(), 0
			changes, err := fleet(b, pods).Changes()
			if err != nil {
				b.Fatal(err)
			}
			for _, d := range changes.Write {
				if err := os.WriteFile(filepath.Join(directory, d.Name), d.Data, 0o600); err != nil {
					b.Fatal(err)
				}
			}
			for b.Loop() {
				c := exec.Command(os.Args[0])
				c.Env = append(os.Environ(), inProcess+"="+directory)
				c.Stderr = os.Stderr
				out, err := c.Output()
				if err != nil {
					b.Fatal(err)
				}
				if text := strings.TrimSpace(string(out)); text != "" {
					kib, err := strconv.Atoi(text)
					if err != nil {
						b.Fatal(err)
					}
					peak = max(peak, kib)
				}
			}
			if peak > 0 {
				b.ReportMetric(float64(peak)/1024, "peak-MiB")
			}
		})
	}
}
