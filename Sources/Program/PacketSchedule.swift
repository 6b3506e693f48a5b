import DequeModule
import MediaTypes

/// A live source's packets between their arrival and their decoding, one line per track: a track whose packets are not due
/// yet never holds up the other one.
struct PacketSchedule {
    /// A packet with its place on the source's time.
    struct Waiting {
        var packet: CodedPacket
        var noted: SourceTimeline.Noted
        /// Program time at which it came; `nil` for files.
        var arrival: Int64?
    }

    enum Entry {
        case configuration(CodecParameters)
        case packet(Waiting)
    }

    private var video = Deque<Entry>()
    private var audio = Deque<Entry>()
    /// The publication is over once everything before is decoded; what comes after waits outside.
    private(set) var isEnding = false

    var isEmpty: Bool { self.video.isEmpty && self.audio.isEmpty }
    var count: Int { self.video.count + self.audio.count }

    mutating func append(_ parameters: CodecParameters) {
        if parameters.kind == .video {
            self.video.append(.configuration(parameters))
        } else {
            self.audio.append(.configuration(parameters))
        }
    }

    mutating func append(_ waiting: Waiting) {
        if waiting.packet.kind == .video {
            self.video.append(.packet(waiting))
        } else {
            self.audio.append(.packet(waiting))
        }
    }

    mutating func appendEnd() { self.isEnding = true }
    mutating func ended() { self.isEnding = false }

    /// The entry that is due first, by `due`; a configuration is due at once.
    func first(_ due: (Waiting) -> Int64) -> (kind: TrackKind, due: Int64)? {
        let video = self.video.first.map { Self.due($0, due) }
        let audio = self.audio.first.map { Self.due($0, due) }
        switch (video, audio) {
        case (nil, nil): return nil
        case (let video?, nil): return (.video, video)
        case (nil, let audio?): return (.audio, audio)
        case (let video?, let audio?): return video <= audio ? (.video, video) : (.audio, audio)
        }
    }

    private static func due(_ entry: Entry, _ due: (Waiting) -> Int64) -> Int64 {
        switch entry {
        case .configuration: .min
        case .packet(let waiting): due(waiting)
        }
    }

    mutating func popFirst(_ kind: TrackKind) -> Entry? {
        kind == .video ? self.video.popFirst() : self.audio.popFirst()
    }
}
