import io.prometheus.metrics.core.metrics.Counter;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import io.prometheus.metrics.model.registry.PrometheusRegistry;
import java.io.ByteArrayOutputStream;

/** Answers scrapes of a service with many series. */
public class Main {
    public static void main(String[] arguments) throws Exception {
        PrometheusRegistry registry = new PrometheusRegistry();
        for (int i = 0; i < 30; i++) {
            Counter counter = Counter.builder().name("shop_requests_" + i + "_total").help("Requests of part " + i)
                .labelNames("method", "path", "status").register(registry);
            for (int j = 0; j < 30; j++) counter.labelValues("GET", "/part/" + j, "200").inc(j);
        }
        PrometheusTextFormatWriter writer = new PrometheusTextFormatWriter(false);
        long size = 0;
        for (int i = 0; i < 200; i++) {
            ByteArrayOutputStream out = new ByteArrayOutputStream();
            writer.write(out, registry.scrape());
            size += out.size();
        }
        System.out.println(size);
    }
}
