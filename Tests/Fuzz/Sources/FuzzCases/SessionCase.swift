import MediaKernels
import MediaTypes
import RTMP

/// A publisher's whole connection: handshake, chunks, commands, media.
///
/// Input: flags (1 byte), a seed for the splits (1 byte), then the client's bytes. Flags: 1 prepend a handshake, 2 deny
/// the request, 4 decide late, 8 let time pass, 16 use tight limits.
enum SessionCase {
    static let entry = FuzzCase(
        "session", longest: 6000, mutate: SessionMutator.mutate, seeds: Self.seeds, run: Self.run)

    /// C0, C1 and C2, as sent by a client.
    static let handshake = [3] + [UInt8](repeating: 7, count: 3072)

    struct Flags: OptionSet {
        let rawValue: UInt8
        static let handshake = Flags(rawValue: 1)
        static let denied = Flags(rawValue: 2)
        static let late = Flags(rawValue: 4)
        static let timed = Flags(rawValue: 8)
        static let narrow = Flags(rawValue: 16)
    }

    static func seeds() -> [(name: String, bytes: [UInt8])] {
        FuzzFiles.captures().flatMap { name, bytes -> [(name: String, bytes: [UInt8])] in
            let stream = bytes.dropFirst(3073)
            return [0x01, 0x03, 0x0D, 0x15].map { flags in
                ("\(name).\(flags)", [flags, 77] + stream.prefix(flags == 1 ? 5600 : 2400))
            } + [("\(name).whole", [0, 5] + bytes.prefix(5800))]
        }
    }

    static func run(_ bytes: [UInt8]) -> String? {
        var input = FuzzInput(bytes)
        let flags = Flags(rawValue: input.byte())
        let seed = UInt64(input.byte())
        let stream = (flags.contains(.handshake) ? Self.handshake : []) + input.rest()
        let whole = Peer(flags)
        whole.feed(stream[...])
        if let broken = whole.broken { return "in one piece: \(broken)" }
        let cut = Peer(flags)
        var random = FuzzRandom(seed: seed)
        let largest = random.pick([1, 3, 17, 200, 1500], or: 1)
        var offset = 0
        // After the handshake, where single bytes would only cost time.
        while offset < stream.count {
            let end = min(stream.count, offset + (offset < 3000 ? 500 : 1 + random.below(largest)))
            cut.feed(stream[offset..<end])
            offset = end
        }
        if let broken = cut.broken { return "in pieces: \(broken)" }
        // With time, late decisions and tight limits, the split matters.
        guard flags.isDisjoint(with: [.late, .timed, .narrow]) else { return nil }
        guard whole.isClosed == cut.isClosed else { return "closed only in one piece, or only in pieces" }
        // A stream that breaks its connection may break it before or after the decision.
        if whole.isClosed { return nil }
        if whole.events != cut.events { return "other events in pieces" }
        return nil
    }

    /// A server session with a demuxer, as in ingest, and what it reports.
    final class Peer {
        enum Event: Hashable {
            case request(PublishRequest)
            case media(RTMPMediaMessage.Kind, UInt32, [UInt8])
            case metadata([UInt8])
            case wallClock(WallClockTime, UInt32)
            case data(String, String)
            case unpublished(UnpublishReason)
        }

        private var session: RTMPServerSession
        private var demuxer = FLVDemuxer()
        private let flags: Flags
        private let limits: RTMPLimits
        private var now: Int64 = 0
        private var fed = 0
        private var waiting: (id: Int, at: Int)?
        private var sent: [UInt8] = []
        private(set) var events: [Event] = []
        private(set) var isClosed = false
        private(set) var broken: String?

        init(_ flags: Flags) {
            var configuration = RTMPServerConfiguration()
            // Media right after `publish` waits for the decision in one split and not in the other.
            configuration.limits.undecidedBytes = 64 << 20
            if flags.contains(.narrow) {
                configuration.limits.partialBytes = 2000
                configuration.limits.mediaLength = 1500
                configuration.limits.undecidedBytes = 3000
                configuration.limits.chunkStreams = 6
                configuration.limits.partialMessages = 2
                configuration.limits.setupBytes = 2500
                configuration.limits.amfDepth = 2
                configuration.limits.tinyMessageRate = (perSecond: 5, burst: 20)
                configuration.limits.commandRate = (perSecond: 2, burst: 8)
            }
            self.limits = configuration.limits
            self.flags = flags
            self.session = RTMPServerSession(configuration: configuration, now: 0, random: [])
        }

        func feed(_ piece: ArraySlice<UInt8>) {
            if self.flags.contains(.timed) {
                self.now += 40_000_000
                if let deadline = self.session.nextDeadline, deadline <= self.now {
                    self.perform(self.session.deadlineReached(now: self.now))
                }
            }
            self.perform(self.session.receive(Array(piece).span, now: self.now))
            self.fed += piece.count
            if let waiting = self.waiting, self.fed >= waiting.at || self.flags.contains(.timed) {
                self.decide(waiting.id)
            }
            if self.session.bytesReceived > UInt64(self.fed) {
                self.broken = "more bytes are counted than were received"
            }
        }

        private func decide(_ id: Int) {
            self.waiting = nil
            let decision: PublishDecision = self.flags.contains(.denied) ? .deny(.denied) : .accept
            self.perform(self.session.decide(decision, on: id, now: self.now))
        }

        private func perform(_ actions: [RTMPServerAction]) {
            for action in actions {
                if self.isClosed, case .send = action {
                } else if self.isClosed {
                    self.broken = "an action after close"
                }
                switch action {
                case .send(let bytes):
                    if self.sent.count < 1 << 20 { self.sent += bytes }
                case .publishRequested(let request):
                    self.events.append(.request(request))
                    if self.flags.contains(.late) {
                        self.waiting = (request.id, self.fed + 300)
                    } else {
                        self.decide(request.id)
                    }
                case .message(let media): self.take(media)
                case .metadata(let properties): self.events.append(.metadata(AMF0Writer.bytes([.object(properties)])))
                case .wallClock(let time, let timestamp):
                    self.events.append(.wallClock(time, timestamp))
                    self.demuxer.note(time, at: timestamp)
                case .data(let name, let values):
                    if values.utf8.count > 4_096 { self.broken = "data beyond its limit" }
                    self.events.append(.data(name, values))
                case .unpublished(let reason): self.events.append(.unpublished(reason))
                case .close:
                    self.isClosed = true
                    self.checkSent()
                }
            }
        }

        private func take(_ media: RTMPMediaMessage) {
            if media.payload.count > self.limits.mediaLength { self.broken = "media beyond its limit" }
            self.events.append(.media(media.kind, media.timestamp, media.payload.bytes))
            var items: [SourceItem] = []
            self.demuxer.receive(media, arrival: self.now, into: &items)
            if let broken = TagCase.check(items) { self.broken = broken }
        }

        /// The server's own bytes must also be valid RTMP.
        private func checkSent() {
            guard self.sent.count > 3073 else { return }
            var reader = RTMPChunkReader()
            var messages: [RTMPMessage] = []
            do {
                try reader.receive(Array(self.sent.dropFirst(3073)).span, into: &messages)
            } catch {
                self.broken = "the server's answer is not valid RTMP: \(error)"
            }
        }
    }
}
