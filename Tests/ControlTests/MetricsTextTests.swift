import Testing

import Control

@Suite("Metrics in Prometheus text format")
struct MetricsTextTests {
    @Test("a metric family has HELP and TYPE lines, label values are escaped, and durations are decimal seconds")
    func text() {
        var metrics = MetricsText()
        metrics.family("tandem_a_total", .counter, "What \\ it\nis")
        metrics.sample("tandem_a_total", ["uid": "1\"0\\01", "media": "video"], 7)
        metrics.family("tandem_b_seconds", .gauge, "b")
        metrics.seconds("tandem_b_seconds", nanoseconds: -1_500_000_000)
        metrics.seconds("tandem_b_seconds", nanoseconds: 3_000_000_000)
        metrics.seconds("tandem_b_seconds", nanoseconds: 1)
        #expect(
            metrics.text == """
                # HELP tandem_a_total What \\\\ it\\nis
                # TYPE tandem_a_total counter
                tandem_a_total{uid="1\\"0\\\\01",media="video"} 7
                # HELP tandem_b_seconds b
                # TYPE tandem_b_seconds gauge
                tandem_b_seconds -1.5
                tandem_b_seconds 3
                tandem_b_seconds 0.000000001

                """)
    }

    @Test(
        "an info metric has its values as labels; histograms by a label share one family, and each has its own buckets"
    )
    func labeled() {
        var (one, other) = (DurationHistogram(), DurationHistogram())
        one.add(3_000_000)
        other.add(30_000_000)
        other.add(3_000_000)
        var metrics = MetricsText()
        metrics.info("tandem_d_info", [("version", "1.0"), ("ffmpeg", "5.1")], "d")
        metrics.histograms("tandem_e_seconds", by: "rendition", [("720p", one), ("3\"60p", other)], "e")
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines[2] == #"tandem_d_info{version="1.0",ffmpeg="5.1"} 1"#)
        #expect(lines.count { $0.hasPrefix("# TYPE tandem_e_seconds") } == 1, "one family")
        #expect(lines.contains(#"tandem_e_seconds_bucket{rendition="720p",le="0.005"} 1"#))
        #expect(lines.contains(#"tandem_e_seconds_bucket{rendition="3\"60p",le="0.02"} 1"#))
        #expect(lines.contains(#"tandem_e_seconds_bucket{rendition="3\"60p",le="+Inf"} 2"#))
        #expect(lines.contains(#"tandem_e_seconds_sum{rendition="3\"60p"} 0.033"#))
        #expect(lines.last == #"tandem_e_seconds_count{rendition="3\"60p"} 2"#)
    }

    @Test("a histogram's buckets are cumulative, and the `+Inf` bucket counts all values")
    func histogram() {
        var histogram = DurationHistogram()
        for milliseconds in [0, 5, 6, 100, 20_000] as [Int64] { histogram.add(milliseconds * 1_000_000) }
        histogram.add(-5)
        var metrics = MetricsText()
        metrics.histogram("tandem_c_seconds", histogram, "c")
        let lines = metrics.text.split(separator: "\n").map(String.init)
        #expect(lines[2] == #"tandem_c_seconds_bucket{le="0.005"} 3"#)
        #expect(lines[3] == #"tandem_c_seconds_bucket{le="0.01"} 4"#)
        #expect(lines.contains(#"tandem_c_seconds_bucket{le="0.16"} 5"#))
        #expect(lines.contains(#"tandem_c_seconds_bucket{le="10"} 5"#))
        #expect(
            lines.suffix(3) == [
                #"tandem_c_seconds_bucket{le="+Inf"} 6"#, "tandem_c_seconds_sum 20.111", "tandem_c_seconds_count 6",
            ])
    }
}
