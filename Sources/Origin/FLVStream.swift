package import HTTPListener
import NIOCore
package import Push
import HTTPTypes
import Synchronization

/// One viewer of a rendition over HTTP-FLV or WebSocket-FLV: sends a file header, the tags since the last IDR frame,
/// then each new tag.
///
/// Tags are shared by all viewers. A viewer that is too slow loses whole GOPs. A viewer that keeps losing them is
/// disconnected.
package final class FLVStream: ReplyStream, LiveReader {
    private struct State {
        var queue = TagQueue()
        var isBegun = false
        /// Whether the viewer is included in the number of viewers.
        var isCounted = false
        var isOver = false
        var isTooSlow = false
        /// Whether the connection asked for data and got none: `more` must be called when there is data again.
        var isIdle = false
        var more: (@Sendable () -> Void)?
        /// Times of recent GOP drops in nanoseconds.
        var overruns: [Int64] = []
    }

    /// Number of GOP drops within ``overrunSpan`` at which a viewer is disconnected. Drops in one call of
    /// ``receive(_:now:)`` count once.
    static let mostOverruns = 4
    /// Time span in nanoseconds in which GOP drops are counted: one minute.
    static let overrunSpan: Int64 = 60_000_000_000

    private let feed: LiveFeed
    private let viewers: StreamViewers?
    private let state = Mutex(State())

    /// Makes a stream of a rendition.
    ///
    /// - Parameter viewers: Counts this viewer while it is connected; `nil`: not counted.
    package init(_ feed: LiveFeed, counted viewers: StreamViewers? = nil) {
        self.feed = feed
        self.viewers = viewers
    }

    // MARK: Called by the connection

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
        let isNew = self.state.withLock { state in
            state.more = body
            defer { state.isCounted = true }
            return !state.isCounted
        }
        if isNew { self.viewers?.change(by: 1) }
        self.feed.add(self)
    }

    package func cancel() {
        let wasCounted = self.state.withLock { state in
            state.isOver = true
            state.queue = TagQueue()
            state.more = nil
            defer { state.isCounted = false }
            return state.isCounted
        }
        if wasCounted { self.viewers?.change(by: -1) }
        self.feed.remove(self)
    }

    // MARK: Called by the feed

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
    /// Returns the rendition name in a path of the form `live/NAME.flv`; `nil` for other paths.
    static func rendition(_ path: String) -> String? {
        guard path.hasPrefix("live/"), path.hasSuffix(".flv"), path.utf8.count > "live/.flv".utf8.count else {
            return nil
        }
        let name = path.dropFirst("live/".count).dropLast(".flv".count)
        return name.contains("/") ? nil : String(name)
    }

    /// Returns an HTTP-FLV reply that lasts as long as the rendition is on air, unless the viewer leaves or is too
    /// slow.
    static func reply(_ feed: LiveFeed, counted viewers: StreamViewers? = nil) -> ListenerReply {
        ListenerReply(
            .ok, fields: [.contentType: feed.hasVideo ? "video/x-flv" : "audio/x-flv", .cacheControl: "no-store"],
            body: .stream(FLVStream(feed, counted: viewers)))
    }
}
