import Foundation

/// The report of a page's probe, `Scripts/probe.js`.
struct PlayerReport: Decodable {
    struct Problem: Decodable, CustomStringConvertible {
        var at: Double
        var type: String?
        var details: String?
        var fatal: Bool?
        var text: String?
        var status: Int?
        var url: String?

        var description: String {
            let parts = [
                self.type, self.details, self.fatal == true ? "FATAL" : nil, self.text,
                self.status.map { "HTTP \($0)" },
                self.url,
            ]
            return "\(Int(self.at)) ms: " + parts.compactMap { $0 }.joined(separator: " ")
        }
    }

    struct Wait: Decodable {
        /// Milliseconds since the page was opened.
        var at: Double
        var media: Double
        /// nil: it still goes on.
        var seconds: Double?
        /// Within the first half second of media.
        var isStart: Bool
    }

    /// A date range as hls.js exposes it: one cue for each of its attributes. Media times in seconds.
    struct Cue: Decodable {
        var id: String
        var key: String?
        var data: String
        var start: Double
        /// The playhead when the cue was first seen in its track.
        var there: Double
        /// The playhead when it was first seen active.
        var active: Double?
    }

    /// A frame whose clock is at another position than in the frame before. Media times in seconds.
    struct Layout: Decodable {
        /// Index into the probe's panes: 0 in the whole frame, 1 in its left half, 2 in its right half.
        var pane: Int
        var at: Double
        var before: Double?
    }

    /// Whether an error is a known one of hls.js, not of the room.
    ///
    /// When one source buffer is done, hls.js 1.6.15 advances the queues of both (`blockBuffers`,
    /// `stepOperationQueue(this.sourceBufferTypes)`). The other one then loses an append whose
    /// `updateend` event is still to come, and a later append fails because the buffer is busy. hls.js repeats it
    /// (video-dev/hls.js#7321): 2 of 30 openings of a page, none of 70 if only the queue that is done is advanced. If the
    /// first append is lost, then hls.js seeks over the hole.
    ///
    /// A stall that is not fatal is judged by ``expectNoStall(_:)``, as a timing limit.
    static func isAllowed(_ problem: Problem) -> Bool {
        if problem.details == "bufferStalledError", problem.fatal != true { return true }
        if problem.details == "bufferSeekOverHole", problem.fatal != true, problem.at < 2_000 { return true }
        return problem.details == "bufferAppendError" && problem.fatal != true
            && (problem.text ?? "").contains("still processing an 'appendBuffer'")
    }

    /// Errors that are not allowed.
    var faults: [Problem] { self.errors.filter { !Self.isAllowed($0) } }

    var now: Double
    var time: Double
    var ahead: Double
    var ready: Int?
    var size: String
    var decoded: Int
    var dropped: Int
    var corrupted: Int
    var errors: [Problem]
    var waits: [Wait]
    var sizes: [String]
    /// Seconds from drawing a frame at its publisher to showing it, measured at most ten times per second.
    var clock: [Double]
    /// hls.js's own latency measurement.
    var latency: [Double]
    var rates: [Double]
    /// Number of frames whose clock could not be read.
    var unread: Int
    var id3: Int
    var cues: [String]
    /// Milliseconds since the page was opened.
    var firstPicture: Double?
    var startedAt: Double?
    var longestStandstill: Double
    var longestPictureGap: Double
    /// hls.js's target latency in seconds.
    var target: Double?
    var layouts: [Layout]
    var ranges: [Cue]

    init(_ text: String) throws {
        self = try JSONDecoder().decode(Self.self, from: Data(text.utf8))
    }

    /// Stalls that a viewer sees: waiting for media after the start.
    var stalls: [Double] { self.waits.filter { !$0.isStart }.map { $0.seconds ?? (self.now - $0.at) / 1000 } }

    static func percentile(_ values: [Double], _ share: Double) -> Double {
        guard !values.isEmpty else { return .infinity }
        let sorted = values.sorted()
        return sorted[min(sorted.count - 1, Int((Double(sorted.count) * share).rounded(.up)) - 1)]
    }

    /// Median, 95th percentile and largest value, in seconds.
    static func spread(_ values: [Double]) -> String {
        func text(_ share: Double) -> String { String(format: "%.2f", self.percentile(values, share)) }
        return values.isEmpty ? "no values" : "p50 \(text(0.5)), p95 \(text(0.95)), max \(text(1)) s of \(values.count)"
    }

    var summary: String {
        "\(String(format: "%.1f", self.time)) s played in \(String(format: "%.1f", self.now / 1000)), first picture "
            + "\(self.firstPicture.map { "\(Int($0)) ms" } ?? "never"), \(self.stalls.count) stalls "
            + "(longest \(String(format: "%.2f", self.stalls.max() ?? 0)) s), standstill at most \(Int(self.longestStandstill)) ms, "
            + "picture gap at most \(Int(self.longestPictureGap)) ms, "
            + "\(self.dropped) of \(self.decoded) pictures dropped, \(self.errors.count) errors, latency "
            + Self.spread(self.clock)
    }
}
