// Command messages writes and reads structures as protocol buffers.
package main

import (
	"fmt"

	"github.com/golang/protobuf/proto"
	structpb "github.com/golang/protobuf/ptypes/struct"
)

func number(value int) *structpb.Value {
	return &structpb.Value{Kind: &structpb.Value_NumberValue{NumberValue: float64(value)}}
}

func main() {
	message := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for i := range 200 {
		message.Fields[fmt.Sprint("field", i)] = number(i)
	}
	total := 0
	for range 6000 {
		packed, err := proto.Marshal(message)
		if err != nil {
			panic(err)
		}
		var read structpb.Struct
		if err := proto.Unmarshal(packed, &read); err != nil {
			panic(err)
		}
		total += len(read.Fields)
	}
	fmt.Println(total)
}
