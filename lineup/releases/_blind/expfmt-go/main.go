//go:build ignore

// Command exporter answers scrapes with many series.
package main

import (
	"bytes"
	"compress/gzip"
	"fmt"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"google.golang.org/protobuf/proto"
)

func label(name, value string) *dto.LabelPair {
	return &dto.LabelPair{Name: proto.String(name), Value: proto.String(value)}
}

func main() {
	var families []*dto.MetricFamily
	for i := range 40 {
		family := &dto.MetricFamily{Name: proto.String(fmt.Sprintf("shop_requests_%d_total", i)),
			Help: proto.String("Requests of a part."), Type: dto.MetricType_COUNTER.Enum()}
		for j := range 50 {
			family.Metric = append(family.Metric, &dto.Metric{Counter: &dto.Counter{Value: proto.Float64(float64(j))},
				Label: []*dto.LabelPair{label("method", "GET"), label("path", fmt.Sprint("/part/", j)),
					label("status", "200"), label("instance", "a")}})
		}
		families = append(families, family)
	}
	total := 0
	var page, packed bytes.Buffer
	for i := range 1100 {
		page.Reset()
		for _, family := range families {
			if _, err := expfmt.MetricFamilyToText(&page, family); err != nil {
				panic(err)
			}
		}
		total += page.Len()
		if i%90 == 0 {
			packed.Reset()
			writer := gzip.NewWriter(&packed)
			if _, err := writer.Write(page.Bytes()); err != nil {
				panic(err)
			}
			writer.Close()
			total += min(packed.Len(), 1)
		}
	}
	fmt.Println(total)
}
