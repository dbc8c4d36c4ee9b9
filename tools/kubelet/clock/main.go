// Clock is the program of the trial's containers. With a duration it runs for that long, and writes
// its own times of start and end as the container's termination message. Without one it is the
// container of a pod's sandbox, and waits for SIGTERM.
package main

import (
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	start := time.Now()
	if len(os.Args) == 1 {
		stop := make(chan os.Signal, 1)
		signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
		<-stop
		return
	}
	if err := run(start, os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "clock:", err)
		os.Exit(1)
	}
}

func run(start time.Time, length string) error {
	d, err := time.ParseDuration(length)
	if err != nil {
		return err
	}
	time.Sleep(d)
	message := fmt.Sprintf("%d %d", start.UnixNano(), time.Now().UnixNano())
	return os.WriteFile("/dev/termination-log", []byte(message), 0o644) //nolint:gosec // the kubelet reads it
}
