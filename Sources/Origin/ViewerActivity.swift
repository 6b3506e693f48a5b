import NIOCore
import Synchronization

/// Forwards playback requests and records playlist requests: when the last one was, to tell whether the room has
/// viewers, and how much playback time they cover, to estimate the number of viewers.
final class ViewerActivity: OriginContent {
    private let content: any OriginContent
    /// Time of the last playlist request in nanoseconds of the system's monotonic clock; 0 before the first.
    private let lastList = Atomic<UInt64>(0)
    private let playlists: PlayerPlaylists
    /// Playback time in milliseconds that requests for playlists with video cover.
    private let video = Atomic<Int64>(0)
    /// Playback time in milliseconds that requests for audio-only playlists cover.
    private let audio = Atomic<Int64>(0)
    private let estimate = Mutex(ViewerEstimate())

    init(_ content: any OriginContent, playlists: PlayerPlaylists = PlayerPlaylists()) {
        self.content = content
        self.playlists = playlists
        self.estimate.withLock { $0.note(0, at: Self.now) }
    }

    private static var now: Int64 { Int64(clamping: NIODeadline.now().uptimeNanoseconds) }

    /// Playback time in milliseconds that all playlist requests so far cover. A player that reads a video playlist and
    /// an audio playlist counts once, as does one that reads only audio.
    var watched: Int64 { max(self.video.load(ordering: .relaxed), self.audio.load(ordering: .relaxed)) }

    /// Estimated number of players; see ``ViewerEstimate``.
    var viewers: Int64 { self.estimate.withLock { $0.viewers(self.watched, at: Self.now) } }

    /// Nanoseconds since the last playlist request; `nil` before the first.
    var sinceList: Int64? {
        let last = self.lastList.load(ordering: .relaxed)
        guard last != 0 else { return nil }
        return Int64(clamping: NIODeadline.now().uptimeNanoseconds &- last)
    }

    func answer(to request: OriginRequest, _ answer: @escaping @Sendable (OriginAnswer) -> Void) {
        guard request.path.hasSuffix(".m3u8") else { return self.content.answer(to: request, answer) }
        self.lastList.store(NIODeadline.now().uptimeNanoseconds, ordering: .relaxed)
        guard let kind = self.playlists.kind(of: request.path) else {
            return self.content.answer(to: request, answer)
        }
        let interval = self.playlists.interval(request.directives, path: request.path)
        self.content.answer(to: request) { reply in
            // A request that fails is repeated at once, so it would count a player several times.
            if case .object = reply { self.count(kind, milliseconds: interval) }
            answer(reply)
        }
    }

    private func count(_ kind: PlayerPlaylists.Kind, milliseconds: Int64) {
        switch kind {
        case .video: self.video.wrappingAdd(milliseconds, ordering: .relaxed)
        case .audio: self.audio.wrappingAdd(milliseconds, ordering: .relaxed)
        }
    }

    var ended: Bool { self.content.ended }

    func expire() {
        self.estimate.withLock { $0.note(self.watched, at: Self.now) }
        self.content.expire()
    }

    func close() { self.content.close() }
}
