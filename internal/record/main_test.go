package record

import (
	"context"
	"fmt"
	"os"
	"testing"
)

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == Verb {
		if err := Serve(context.Background(), os.Args[2], os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(2)
		}
		os.Exit(0)
	}
	if len(os.Args) > 2 && os.Args[1] == ownerVerb {
		os.Exit(ownRecorder(os.Args[2]))
	}
	if len(os.Args) > 2 && os.Args[1] == portVerb {
		fmt.Fprintln(os.Stderr, servePort(os.Args[2]))
		os.Exit(2)
	}
	if len(os.Args) > 2 && os.Args[1] == streamVerb {
		fmt.Fprintln(os.Stderr, serveStreams(os.Args[2]))
		os.Exit(2)
	}
	folder, err := os.MkdirTemp("", "culprit-record-test")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(2)
	}
	programs.folder = folder
	status := m.Run()
	standing.close()
	os.RemoveAll(folder)
	os.Exit(status)
}
