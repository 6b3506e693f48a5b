package import HTTPListener
import NIOCore
package import Push
import HTTPTypes
import Synchronization

/// One viewer of a rendition over HTTP-FLV or WebSocket-FLV: a file header, the tags since the last IDR picture, then each tag as it comes.
///
/// Tags are shared by all viewers. A viewer who is too slow loses whole groups of pictures; one who goes on losing them is
/// sent away, and costs nothing from then on.
package final class FLVStream: ReplyStream, LiveReader {
    private struct State {
        var queue = TagQueue()
        var isBegun = false
        var isOver = false
        var isTooSlow = false
        /// Asked, and got nothing: it is to be told when there is more.
        var isIdle = false
        var more: (@Sendable () -> Void)?
        /// Nanoseconds at which something had to go, lately.
        var overruns: [Int64] = []
    }

    /// So often within the span of time, and the viewer's network is not going to carry it.
    static let mostOverruns = 4
    /// Nanoseconds.
    static let overrunSpan: Int64 = 60_000_000_000

    private let feed: LiveFeed
    private let state = Mutex(State())

    package init(_ feed: LiveFeed) { self.feed = feed }

    // MARK: The viewer's side

    package func next() -> ReplyStreamPiece {
        self.state.withLock { state in
            if !state.isBegun {
                state.isBegun = true
                return .bytes(FLVFileWriter.header(hasVideo: self.feed.hasVideo, hasAudio: self.feed.hasAudio))
            }
            while let tag = state.queue.pop() {
                if tag.file.readableBytes > 0 { return .bytes(tag.file) }
            }
            if state.isOver { return state.isTooSlow ? .tooSlow : .end }
            state.isIdle = true
            return .later
        }
    }

    package func whenMore(_ body: @escaping @Sendable () -> Void) {
        self.state.withLock { $0.more = body }
        self.feed.add(self)
    }

    package func cancel() {
        self.state.withLock { state in
            state.isOver = true
            state.queue = TagQueue()
            state.more = nil
        }
        self.feed.remove(self)
    }

    // MARK: The feed's side

    package func receive(_ tags: [LiveTag], now: Int64) {
        let (more, isHopeless) = self.state.withLock { state -> ((@Sendable () -> Void)?, Bool) in
            guard !state.isOver else { return (nil, false) }
            let before = state.queue.overruns
            for tag in tags { state.queue.push(tag, now: now) }
            if state.queue.overruns != before {
                state.overruns.removeAll { now &- $0 > Self.overrunSpan }
                state.overruns.append(now)
                if state.overruns.count >= Self.mostOverruns {
                    state.isOver = true
                    state.isTooSlow = true
                    state.queue = TagQueue()
                    return (state.more, true)
                }
            }
            guard state.isIdle, !state.queue.isEmpty else { return (nil, false) }
            state.isIdle = false
            return (state.more, false)
        }
        more?()
        if isHopeless { self.feed.remove(self) }
    }

    package func ended() {
        let more = self.state.withLock { state -> (@Sendable () -> Void)? in
            state.isOver = true
            return state.more
        }
        more?()
    }
}

extension FLVStream {
    /// The rendition that a path of the viewers' listener names, `live/NAME.flv`.
    static func rendition(_ path: String) -> String? {
        guard path.hasPrefix("live/"), path.hasSuffix(".flv"), path.utf8.count > "live/.flv".utf8.count else {
            return nil
        }
        let name = path.dropFirst("live/".count).dropLast(".flv".count)
        return name.contains("/") ? nil : String(name)
    }

    /// The reply that goes on for as long as the rendition is on air.
    static func reply(_ feed: LiveFeed) -> ListenerReply {
        ListenerReply(
            .ok, fields: [.contentType: feed.hasVideo ? "video/x-flv" : "audio/x-flv", .cacheControl: "no-store"],
            body: .stream(FLVStream(feed)))
    }
}
