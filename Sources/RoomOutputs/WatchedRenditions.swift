package import Encoding
package import MediaTypes
package import Packager
package import PipelineSpec
import Synchronization

/// Puts the renditions that nobody watches to sleep, and wakes them: see ``RenditionDemand``.
///
/// Requests are noted on any thread, without a lock unless a rendition sleeps. ``step(isOverloaded:isLive:)`` is called
/// on the life thread.
package final class WatchedRenditions: Sendable {
    /// A playlist of which requests are noted.
    private final class Playlist: Sendable {
        /// The rendition; `nil` for the multivariant playlist.
        let track: Int?
        /// Time of the last request; 0 before the first.
        let requested = Atomic<Int64>(0)

        init(_ track: Int?) { self.track = track }
    }

    private struct State {
        var demand: RenditionDemand
        /// The cause for which each rendition was woken last.
        var causes: [Int: RenditionDemand.Cause] = [:]
    }

    private let names: [String]
    private let playlists: [String: Playlist]
    private let clock: any MonotonicClock
    private let control: EncoderControl
    private let events: any OutputEvents
    private let state: Mutex<State>
    /// Number of renditions that sleep or are to sleep.
    private let sleepers = Atomic<Int>(0)
    private let overloaded = Atomic<Bool>(false)

    /// Makes the object; nil if all renditions are always encoded.
    package init?(
        _ pipeline: Pipeline, _ packager: HLSPackager?, _ ladder: EncodingStage, clock: any MonotonicClock,
        events: any OutputEvents
    ) {
        let tracks = pipeline.watchedRenditions
        guard !tracks.isEmpty, let packager, let output = pipeline.hls else { return nil }
        self.names = pipeline.videoRenditions.map(\.name)
        var playlists = [packager.multivariantName: Playlist(nil)]
        for track in tracks { playlists[packager.playlistName(ofTrack: track)] = Playlist(track) }
        self.playlists = playlists
        (self.clock, self.control, self.events) = (clock, ladder.control, events)
        let before = packager.asleepBefore
        let asleep = Set(tracks.filter { before.contains(pipeline.videoRenditions[$0].name) })
        let window = Int64(output.windowSeconds) * TimeMath.nanoseconds
        self.state = Mutex(
            State(demand: RenditionDemand(tracks, asleep: asleep, window: window, now: clock.now())))
        self.sleepers.store(asleep.count, ordering: .relaxed)
        self.control.setAsleep(asleep)
    }

    /// Whether requests for sleeping renditions are refused, because the machine is overloaded.
    package var isRefusing: Bool { self.overloaded.load(ordering: .relaxed) }

    /// Notes a viewer's request. Other names than those of playlists are ignored.
    package func requested(_ name: String) {
        guard let playlist = self.playlists[name] else { return }
        playlist.requested.store(self.clock.now(), ordering: .relaxed)
        guard self.sleepers.load(ordering: .relaxed) > 0 else { return }
        let canWake = self.state.withLock { state in
            playlist.track.map { state.demand.asleep.contains($0) } ?? !state.demand.asleep.isEmpty
        }
        if canWake { self.step() }
    }

    /// Keeps renditions awake for some time, because viewers are expected.
    ///
    /// - Parameters:
    ///   - track: A rendition in the order of the pipeline's renditions with video.
    ///   - seconds: 1 or more.
    /// - Returns: Whether the rendition is awake, or wakes with the next segment.
    package func announce(_ track: Int, seconds: Int64) -> Bool {
        self.state.withLock { state in
            state.demand.announced(track, for: seconds &* TimeMath.nanoseconds, at: self.clock.now())
        }
        self.step()
        return self.state.withLock { !$0.demand.asleep.contains(track) }
    }

    /// Carries out what is due.
    ///
    /// - Parameters:
    ///   - isOverloaded: Whether the room leaves out something because its machine cannot keep up.
    ///   - isLive: Whether the program runs. Before that nothing falls asleep, so that the room's first viewers do not wait.
    package func step(isOverloaded: Bool, isLive: Bool) {
        self.overloaded.store(isOverloaded, ordering: .relaxed)
        if !isLive { self.state.withLock { $0.demand.stay(at: self.clock.now()) } }
        self.step()
    }

    private func step() {
        let now = self.clock.now()
        self.state.withLock { state in
            state.demand.isOverloaded = self.overloaded.load(ordering: .relaxed)
            for playlist in self.playlists.values {
                let time = playlist.requested.load(ordering: .relaxed)
                guard time != 0 else { continue }
                if let track = playlist.track {
                    state.demand.playlistRequested(of: track, at: time)
                } else {
                    state.demand.multivariantRequested(at: time)
                }
            }
            let actions = state.demand.step(now: now)
            guard !actions.isEmpty else { return }
            for case .wake(let track, let cause) in actions { state.causes[track] = cause }
            let asleep = state.demand.asleep
            self.sleepers.store(asleep.count, ordering: .relaxed)
            self.control.setAsleep(asleep)
        }
    }

    // MARK: Calls from the encoders

    /// Reports that a rendition has no packets from a tick on.
    package func slept(_ track: Int, at tick: Int64) {
        guard self.names.indices.contains(track) else { return }
        self.events.emit("rendition.asleep", ["rendition": .string(self.names[track]), "tick": .integer(tick)])
    }

    /// Reports that a rendition has packets again from a tick on.
    package func woke(_ track: Int, at tick: Int64) {
        let cause = self.state.withLock { $0.causes[track] ?? .playlist }
        guard self.names.indices.contains(track) else { return }
        self.events.emit(
            "rendition.awake",
            ["rendition": .string(self.names[track]), "tick": .integer(tick), "cause": .string(cause.rawValue)])
    }
}
