extension Pipeline {
    /// Thresholds of alarms about the quality of a source's input.
    package struct Alarms: Sendable, Equatable {
        /// Length of the measurement window in milliseconds (2,000…60,000). Default 5,000.
        package var windowMs = 5000
        /// Time for which the condition of an alarm level must be absent before the level falls, in milliseconds
        /// (0…600,000). Default 10,000.
        package var clearAfterMs = 10_000
        /// Milliseconds without media, in addition to the current length of the jitter buffer, at which the three
        /// alerts are raised (0…60,000, rising). Default 50, 300, 800.
        package var gapMs = [50, 300, 800]
        /// Percent of the expected frames per second below which the three alerts are raised (0…100, falling). Default
        /// 90, 75, 50.
        package var fpsPercent = [90, 75, 50]
        /// Percent of real time at which media arrives, below which the three alerts are raised (0…100, falling).
        /// Default 90, 75, 50.
        package var networkPercent = [90, 75, 50]
        /// Percent of a WebRTC publisher's packets that the network loses, at which the three alerts are raised (1…100, rising).
        /// Default 5, 10, 15.
        package var lossPercent = [5, 10, 15]
        /// Percent of ``Pipeline/Expected/videoBitrate`` below which alert 1 is raised (0…100); without ``Expected``
        /// there is no such alert. Default 60.
        package var bitratePercent = 60
        /// Milliseconds by which audio and video have moved apart, at which the three alerts are raised (1…60,000,
        /// rising). Default 80, 150, 300.
        package var skewMs = [80, 150, 300]
        /// Milliseconds between key frames above which alert 1 is raised (500…600,000), except for WebRTC publishers
        /// that send key frames on request. Default 4,000.
        package var keyFrameIntervalMs = 4000

        package init() {}
    }
}

extension Pipeline.Alarms {
    static let rule = ObjectRule(
        "thresholds of alarms about the quality of sources", Pipeline.Alarms(),
        [
            Field("windowMs", \.windowMs, .integer(2000...60_000), "length of the measurement window in milliseconds"),
            Field(
                "clearAfterMs", \.clearAfterMs, .integer(0...600_000),
                "milliseconds that the condition of a level must be absent before the level falls"),
            Field(
                "gapMs", \.gapMs, .alerts(0...60_000, isRising: true),
                "milliseconds without media, beyond what the jitter buffer in force absorbs, for alert 1, 2 and 3"),
            Field(
                "fpsPercent", \.fpsPercent, .alerts(0...100, isRising: false),
                "percent of the expected frames per second below which alert 1, 2 and 3 are raised"),
            Field(
                "networkPercent", \.networkPercent, .alerts(0...100, isRising: false),
                "percent of real time at which media arrives, below which alert 1, 2 and 3 are raised"),
            Field(
                "lossPercent", \.lossPercent, .alerts(1...100, isRising: true),
                "percent of a WebRTC publisher's packets that the network loses, for alert 1, 2 and 3"),
            Field(
                "bitratePercent", \.bitratePercent, .integer(0...100),
                "percent of the expected video bit rate below which alert 1 is raised"),
            Field(
                "skewMs", \.skewMs, .alerts(1...60_000, isRising: true),
                "milliseconds by which audio and video have moved apart, for alert 1, 2 and 3"),
            Field(
                "keyFrameIntervalMs", \.keyFrameIntervalMs, .integer(500...600_000),
                "milliseconds between key frames above which alert 1 is raised"),
        ])
}

extension ValueRule where Value == [Int] {
    /// A rule for the thresholds of alerts 1, 2 and 3, in this order.
    fileprivate static func alerts(_ range: ClosedRange<Int>, isRising: Bool) -> ValueRule {
        let list = self.list(of: .integer(range), 3...3, standIn: range.lowerBound)
        return ValueRule(
            schema: list.schema,
            read: { node, path, log in
                let mistakes = log.mistakes.count
                guard let bounds = list.read(node, path, &log), log.mistakes.count == mistakes else { return nil }
                let isOrdered = zip(bounds, bounds.dropFirst()).allSatisfy { isRising ? $0 <= $1 : $0 >= $1 }
                guard isOrdered else {
                    log.mistake(
                        path, "alert 1, 2 and 3 are out of order",
                        fix: "write \(isRising ? "rising" : "falling") numbers, alert 1 first", at: node.position)
                    return nil
                }
                return bounds
            }, write: list.write)
    }
}
