package cli_test

import (
	"flag"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
)

// curl is the part of curl that the guide about the API uses, since a machine may lack it.
func curl() {
	if err := transfer(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "curl:", err)
		os.Exit(1)
	}
}

// headers are the values of -H.
type headers http.Header

func (h headers) String() string { return "" }

func (h headers) Set(text string) error {
	name, value, _ := strings.Cut(text, ": ")
	http.Header(h).Set(name, value)
	return nil
}

func transfer(args []string) error {
	f, header := flag.NewFlagSet("curl", flag.ContinueOnError), headers{}
	f.Bool("s", true, "silent")
	include, body := f.Bool("i", false, "print headers"), f.String("d", "", "send data")
	method := f.String("X", "", "the method")
	f.Var(header, "H", "send a header")
	var address string
	for len(args) > 0 { // options can follow the address
		if err := f.Parse(args); err != nil {
			return err
		}
		if args = f.Args(); len(args) > 0 {
			address, args = args[0], args[1:]
		}
	}
	if *method == "" {
		*method = http.MethodGet
		if *body != "" {
			*method = http.MethodPost
		}
	}
	request, err := http.NewRequest(*method, address, strings.NewReader(*body))
	if err != nil {
		return err
	}
	request.Header = http.Header(header)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	defer response.Body.Close()
	if *include {
		fmt.Println(response.Proto, response.Status)
		if err := response.Header.Write(os.Stdout); err != nil {
			return err
		}
		fmt.Println()
	}
	_, err = io.Copy(os.Stdout, response.Body)
	return err
}
