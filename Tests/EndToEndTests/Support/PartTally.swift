import Testing

/// How soon a room's parts are out, by its metrics.
struct PartTally {
    /// So far, of all renditions.
    let parts: Int
    /// Those that took more than 160 ms from their last picture's entry into the encoder: the metrics' bound next to 150.
    let late: Int

    init(_ room: RunningRoom) throws {
        let metrics = try HTTPClient.request("GET", room.control, "/metrics").body
        func sum(_ bound: String) -> Int {
            metrics.split(separator: "\n").reduce(0) { sum, line in
                guard line.hasPrefix("tandem_part_encode_seconds_bucket{"), line.contains("le=\"\(bound)\"") else {
                    return sum
                }
                return sum + (line.split(separator: " ").last.flatMap { Int($0) } ?? 0)
            }
        }
        let all = sum("+Inf")
        self.parts = all
        self.late = all - sum("0.16")
    }

    /// Half of them within 150 ms, and all but one in a hundred. Of less than a hundred that would be the slowest, and one breath of
    /// the machine's makes one of every rendition slow: of those all but one in ten.
    ///
    /// - Parameter latency: Of the room's summary.
    func expectSoon(_ latency: [String: Any]) throws {
        let parts = try #require(latency["parts"] as? Int)
        expectTiming(try #require(latency["p50"] as? Double), atMost: 150, "ms to half of the parts")
        if parts < 100 {
            #expect(self.parts > 0)
            expectTiming(self.late * 10, atMost: self.parts, "ten times the late parts of \(self.parts)")
        } else {
            expectTiming(try #require(latency["p99"] as? Double), atMost: 150, "ms to 99 % of the parts")
        }
    }
}
