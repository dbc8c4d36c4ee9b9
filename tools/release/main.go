// Release complements GoReleaser. It writes the licenses and the bill of materials of an
// archive, and makes the image of the archives for Linux.
//
//	release documents -version V -commit C -date T BINARY   licenses and materials, next to the binary
//	release licenses                                        what is linked; an error if it may not be shipped
//	release size BINARY                                     which modules a binary with symbols is made of
//	release image dist                                      the image, of the archives in a folder
//	release push dist/image NAME:TAG…                       the image, to a registry
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"

	"github.com/gpupool/terraform-provider-gpupool/tools/release/image"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	command := ""
	if len(args) > 0 {
		command, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("release "+command, flag.ContinueOnError)
	dir := flags.String("dir", ".", "the repository")
	version := flags.String("version", "", "the version that is released, without a v")
	commit := flags.String("commit", "", "the commit that is released, in full")
	date := flags.String("date", "", "the time of the commit, such as 2026-11-22T18:00:00Z")
	if err := flags.Parse(args); err != nil {
		return err
	}
	switch {
	case command == "documents" && flags.NArg() == 1:
		return documents(ctx, *dir, flags.Arg(0), *version, *commit, *date)
	case command == "licenses" && flags.NArg() == 0:
		return licenses(ctx, *dir)
	case command == "size" && flags.NArg() == 1:
		return sizes(ctx, flags.Arg(0))
	case command == "image" && flags.NArg() == 1:
		return writeImage(flags.Arg(0))
	case command == "push" && flags.NArg() > 1:
		index, err := image.Read(flags.Arg(0))
		if err != nil {
			return err
		}
		digest, err := image.Push(ctx, index, flags.Args()[1:]...)
		if err == nil {
			fmt.Println(digest)
		}
		return err
	}
	return fmt.Errorf("%q is not one of documents BINARY, licenses, size BINARY, image DIR or push DIR NAME:TAG…", command)
}

// writeImage lays the image next to the archives that it is made of.
func writeImage(dist string) error {
	index, err := image.OfArchives(dist)
	if err != nil {
		return err
	}
	to := dist + "/image"
	if err := image.Write(to, index); err != nil {
		return err
	}
	digest, err := index.Digest()
	if err == nil {
		fmt.Println(to, digest)
	}
	return err
}
