import Testing

/// Part latency of a room, from its metrics.
struct PartTally {
    /// Number of parts so far, in all renditions.
    let parts: Int
    /// Number of parts that took more than 160 ms after their last frame entered the encoder: the histogram bound next
    /// to 150.
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

    /// Checks that half of the parts took at most 150 ms, and if there are a hundred or more, 99 % of them. With fewer
    /// parts, at most one in ten may be ``late``, since one pause of the machine delays one part of every rendition.
    ///
    /// - Parameter latency: From the room's summary.
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
