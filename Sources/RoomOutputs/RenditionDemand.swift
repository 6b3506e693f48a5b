import MediaTypes

/// Decides which renditions are encoded: those that somebody watches, or is about to watch.
///
/// A request for the multivariant playlist wakes all renditions for ``shortest``, so that a player's start and its first
/// switches never meet a sleeping one. After that, only requests for a rendition's own playlist and announced viewers
/// keep it awake. It falls asleep when the playlist was not requested for as long as the playlist's window, and at least
/// ``shortest``, so that no player holds an old list. On an overloaded machine nothing wakes.
///
/// All times are nanoseconds of one monotonic clock.
package struct RenditionDemand: Sendable {
    /// Why a rendition has woken.
    package enum Cause: String, Sendable, CaseIterable {
        /// The playlist of the rendition was requested.
        case playlist
        /// The multivariant playlist was requested.
        case multivariant
        /// A command has announced viewers.
        case announced
    }

    /// What has to be done with a rendition.
    package enum Action: Sendable, Hashable {
        case wake(Int, Cause)
        case sleep(Int)
    }

    private struct Rendition {
        var isAwake: Bool
        /// Until when each cause keeps the rendition awake.
        var until: [Cause: Int64] = [:]

        /// The cause that keeps the rendition awake for the longest time; `nil` if none does.
        func cause(at now: Int64) -> Cause? {
            let longest = Cause.allCases.max { (self.until[$0] ?? .min) < (self.until[$1] ?? .min) }
            return longest.flatMap { (self.until[$0] ?? .min) > now ? $0 : nil }
        }

        mutating func extend(_ cause: Cause, to time: Int64) {
            self.until[cause] = max(self.until[cause] ?? .min, time)
        }
    }

    /// Shortest time for which a rendition stays awake after a request.
    package static let shortest: Int64 = 30_000_000_000

    /// Time after the last request for a rendition's playlist at which no player holds it any more.
    private let quiet: Int64
    private var renditions: [Int: Rendition] = [:]
    /// Whether the machine is overloaded, so that nothing wakes.
    package var isOverloaded = false

    /// - Parameters:
    ///   - tracks: The renditions that can sleep.
    ///   - asleep: Those that sleep, as the previous worker left them. The others stay awake at least as long as if their
    ///     playlist had been requested now.
    ///   - window: Length of the playlists.
    package init(_ tracks: [Int], asleep: Set<Int>, window: Int64, now: Int64) {
        self.quiet = max(Self.shortest, window)
        for track in tracks {
            var rendition = Rendition(isAwake: !asleep.contains(track))
            if rendition.isAwake { rendition.extend(.playlist, to: now &+ self.quiet) }
            self.renditions[track] = rendition
        }
    }

    /// Renditions that are to sleep.
    package var asleep: Set<Int> { Set(self.renditions.filter { !$0.value.isAwake }.keys) }

    /// Keeps the renditions that are awake awake, as if their playlists had been requested.
    package mutating func stay(at time: Int64) {
        for track in self.renditions.keys where self.renditions[track]?.isAwake == true {
            self.renditions[track]?.extend(.playlist, to: time &+ self.quiet)
        }
    }

    /// Notes a request for the multivariant playlist.
    package mutating func multivariantRequested(at time: Int64) {
        for track in self.renditions.keys { self.renditions[track]?.extend(.multivariant, to: time &+ Self.shortest) }
    }

    /// Notes a request for a rendition's playlist.
    package mutating func playlistRequested(of track: Int, at time: Int64) {
        self.renditions[track]?.extend(.playlist, to: time &+ self.quiet)
    }

    /// Notes that viewers of a rendition are expected for some time.
    package mutating func announced(_ track: Int, for duration: Int64, at time: Int64) {
        self.renditions[track]?.extend(.announced, to: time &+ duration)
    }

    /// Returns what has to be done now.
    package mutating func step(now: Int64) -> [Action] {
        var actions: [Action] = []
        for track in self.renditions.keys.sorted() {
            guard let rendition = self.renditions[track] else { continue }
            let cause = rendition.cause(at: now)
            if !rendition.isAwake, !self.isOverloaded, let cause {
                self.renditions[track]?.isAwake = true
                actions.append(.wake(track, cause))
            } else if rendition.isAwake, cause == nil {
                self.renditions[track]?.isAwake = false
                actions.append(.sleep(track))
            }
        }
        return actions
    }
}
