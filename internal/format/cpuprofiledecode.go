package format

import (
	"encoding/json"
	"errors"
	"fmt"
)

// v8Node is a function with the way to it.
type v8Node struct {
	ID        int64
	CallFrame struct {
		FunctionName string
		URL          string
		LineNumber   float64 // from 0; −1: none
	}
	HitCount float64
	Children []int64
	Parent   int64
}

// v8Profile is one file.
type v8Profile struct {
	nodes      []v8Node
	start, end float64 // µs
	samples    []int64 // ids of nodes
	deltas     []int64 // µs since the sample before
	lost       int64
}

// decodeV8 reads the members that are wanted, one element at a time.
func decodeV8(in *json.Decoder) (*v8Profile, error) {
	p := &v8Profile{}
	if token, err := in.Token(); err != nil || token != json.Delim('{') {
		return nil, cmpError(err, "no object")
	}
	for in.More() {
		name, err := in.Token()
		if err != nil {
			return nil, err
		}
		switch name {
		case "nodes":
			err = elements(in, func() error {
				var node v8Node
				if err := in.Decode(&node); err != nil {
					return err
				}
				if len(p.nodes) >= maxProfileNodes {
					return fmt.Errorf("more than %d nodes", maxProfileNodes)
				}
				p.nodes = append(p.nodes, node)
				return nil
			})
		case "samples":
			p.lost, err = numbersOf(in, &p.samples)
		case "timeDeltas":
			_, err = numbersOf(in, &p.deltas)
		case "startTime":
			err = in.Decode(&p.start)
		case "endTime":
			err = in.Decode(&p.end)
		case "head":
			return nil, errors.New("it has the form of Chrome before 58 and of v8-profiler; record it anew with node --cpu-prof")
		default:
			err = skip(in)
		}
		if err != nil {
			return nil, err
		}
	}
	_, err := in.Token()
	return p, err
}

func cmpError(err error, text string) error {
	if err != nil {
		return err
	}
	return errors.New(text)
}

// elements calls take for each element of an array.
func elements(in *json.Decoder, take func() error) error {
	if token, err := in.Token(); err != nil || token != json.Delim('[') {
		return cmpError(err, "no list where one was expected")
	}
	for in.More() {
		if err := take(); err != nil {
			return err
		}
	}
	_, err := in.Token()
	return err
}

// numbersOf reads a list of numbers, and counts those beyond the limit.
func numbersOf(in *json.Decoder, into *[]int64) (lost int64, err error) {
	err = elements(in, func() error {
		var value float64
		if err := in.Decode(&value); err != nil {
			return err
		}
		if len(*into) >= maxProfileSamples {
			lost++
			return nil
		}
		*into = append(*into, int64(max(-maxAmount, min(maxAmount, value))))
		return nil
	})
	return lost, err
}

// skip passes over a value without keeping it.
func skip(in *json.Decoder) error {
	for depth := 0; ; {
		token, err := in.Token()
		if err != nil {
			return err
		}
		switch token {
		case json.Delim('{'), json.Delim('['):
			depth++
		case json.Delim('}'), json.Delim(']'):
			depth--
		}
		if depth == 0 {
			return nil
		}
	}
}
