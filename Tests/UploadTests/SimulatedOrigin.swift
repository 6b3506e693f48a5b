import HLS
import MediaTypes
import Packager
import Testing
import Upload

/// A store with injected time, a room that lists a segment of audio and video every two seconds, and the queue between
/// them. It checks every object as it arrives: everything a playlist names is there, and no playlist is older than the
/// one before.
struct SimulatedOrigin {
    enum Mood { case up, refusing, silent }

    static let second: Int64 = 1_000_000_000
    static let slotLength: Int64 = 2 * Self.second
    static let window = 12

    private struct Flight {
        let request: UploadRequest
        let until: Int64
        let outcome: UploadOutcome
    }

    var queue: UploadQueue
    /// Nanoseconds that an object takes.
    var latency: Int64 = 20_000_000
    private(set) var now: Int64 = 0
    private var flights: [Flight] = []
    private var listed: Int64 = 0
    private(set) var stored: [String: [UInt8]] = [:]
    /// Names in the order in which the store accepted them.
    private(set) var order: [String] = []
    private(set) var notices: [UploadNotice] = []
    /// The largest number of segments waiting at once.
    private(set) var mostWaiting = 0
    private(set) var mostInFlight = 0
    /// When each playlist was accepted, and the number after its last segment.
    private(set) var sightings: [(name: String, time: Int64, next: Int64)] = []
    var files: (String) -> Bool = { _ in true }
    var isEnding = false

    init(_ rules: UploadRules = UploadRules(), record: UploadRecord? = nil, from number: Int64 = 0) {
        self.queue = UploadQueue(rules: rules)
        self.listed = number
        self.record = record
    }

    private var record: UploadRecord?

    static func segment(_ number: Int64, _ track: String, discontinuity: Bool = false) -> Segment {
        Segment(
            mediaSequence: number, uri: "\(track)-1-\(number).m4s", start: number * 2_000,
            duration: MediaDuration(ticks: 2_000, timescale: 1_000), programDate: number * Self.slotLength,
            map: InitializationSegment(uri: "\(track)-1.mp4"), discontinuity: discontinuity, byteCount: 100,
            keyFrames: track == "v" ? [KeyFrame(start: number * 2_000, offset: 0, byteCount: 10)] : [])
    }

    static func listing(through number: Int64, isFirst: Bool, isEnded: Bool = false) -> OutputListing {
        let first = isFirst ? max(0, number - Int64(Self.window)) : number
        return OutputListing(
            origin: 5,
            tracks: [("v", TrackKind.video), ("a", .audio)].map { name, kind in
                OutputListing.Track(
                    name: name, kind: kind, playlistName: "\(name).m3u8", contentType: "video/mp4",
                    style: .live(windowSeconds: 24), targetDuration: 2,
                    segments: (first...max(first, number)).map { Self.segment($0, name) },
                    iFrames: kind == .video ? .init(name: "v-iframes.m3u8", sequence: first) : nil)
            }, multivariantName: "index.m3u8", multivariant: "#EXTM3U\n", isEnded: isEnded,
            nextMediaSequence: number + 1)
    }

    /// Runs the room, the queue and the store.
    mutating func run(seconds: Double, _ mood: Mood = .up) {
        let end = self.now + Int64(seconds * 1_000) * 1_000_000
        while self.now < end {
            if !self.isEnding, self.now >= self.listed * Self.slotLength {
                self.queue.list(
                    Self.listing(through: self.listed, isFirst: self.queue.record == nil), record: self.record,
                    at: self.now)
                self.listed += 1
            }
            self.step(mood)
            self.now += 10_000_000
        }
    }

    mutating func end() {
        self.isEnding = true
        let last = self.listed - 1
        self.queue.list(Self.listing(through: last, isFirst: false, isEnded: true), at: self.now)
    }

    private mutating func step(_ mood: Mood) {
        for flight in self.flights where flight.until <= self.now {
            if flight.outcome == .done { self.take(flight.request) }
            self.queue.answered(flight.request.id, flight.outcome, at: self.now, jitter: 500)
        }
        self.flights.removeAll { $0.until <= self.now }
        for request in self.queue.next(at: self.now) {
            var outcome = UploadOutcome.done
            var time = self.latency
            if case .put(.file) = request.action, !self.files(request.name) {
                (outcome, time) = (.absent, 0)
            } else if mood == .refusing {
                (outcome, time) = (.failed("refused"), 0)
            } else if mood == .silent || time > request.timeout {
                (outcome, time) = (.failed("timeout"), request.timeout)
            }
            self.flights.append(Flight(request: request, until: self.now + time, outcome: outcome))
        }
        self.notices += self.queue.takeNotices()
        self.mostWaiting = max(self.mostWaiting, self.queue.waitingSegments)
        self.mostInFlight = max(self.mostInFlight, self.flights.count)
        // A caller sleeps until then: a time that has passed would make it spin.
        if let wake = self.queue.wake(after: self.now) { #expect(wake > self.now) }
    }

    private mutating func take(_ request: UploadRequest) {
        guard case .put(let body) = request.action else {
            self.stored[request.name] = nil
            return
        }
        self.order.append(request.name)
        switch body {
        case .bytes(let bytes): self.stored[request.name] = bytes
        case .file, .fileIn: self.stored[request.name] = []
        case .slate: self.stored[request.name] = Array("slate".utf8)
        }
        if request.name.hasSuffix(".m3u8"), request.name != "index.m3u8" { self.look(at: request.name) }
        if request.name == "index.m3u8" {
            let isThere = ["v.m3u8", "v-iframes.m3u8", "a.m3u8"].allSatisfy { self.stored[$0] != nil }
            #expect(isThere, "index.m3u8 names a playlist that is not stored")
        }
    }

    struct Row: Equatable {
        var uri: String
        var isGap: Bool
    }

    /// The segments listed by a playlist of the store.
    func rows(_ name: String) -> (first: Int64, rows: [Row], isEnded: Bool) {
        let text = String(decoding: self.stored[name] ?? [], as: UTF8.self)
        var first: Int64 = 0
        var rows: [Row] = []
        var isGap = false
        for line in text.split(separator: "\n") {
            if line.hasPrefix("#EXT-X-MEDIA-SEQUENCE:") { first = Int64(line.dropFirst(22)) ?? -1 }
            if line == "#EXT-X-GAP" { isGap = true }
            if !line.hasPrefix("#") {
                rows.append(Row(uri: String(line), isGap: isGap))
                isGap = false
            }
        }
        return (first, rows, text.contains("#EXT-X-ENDLIST"))
    }

    private mutating func look(at name: String) {
        let (first, rows, _) = self.rows(name)
        for row in rows where !row.isGap {
            #expect(self.stored[row.uri] != nil, "\(name) names \(row.uri) before it exists")
        }
        let text = String(decoding: self.stored[name] ?? [], as: UTF8.self)
        let isHere = rows.contains { !$0.isGap }
        for line in text.split(separator: "\n") where isHere && line.hasPrefix("#EXT-X-MAP") {
            #expect(self.stored["\(name.prefix(1))-1.mp4"] != nil, "\(line) does not exist")
        }
        let next = first + Int64(rows.count)
        if let last = self.sightings.last(where: { $0.name == name }) {
            #expect(next >= last.next, "\(name) goes back")
        }
        self.sightings.append((name, self.now, next))
    }
}
