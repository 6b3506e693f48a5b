package import PipelineSpec

/// Tracks the connections of a listener and chooses which to close if there are too many.
///
/// Connections that publish are never closed in favor of others. Of the others, each client network may have a few that
/// make no progress. A real encoder makes progress all the time and publishes within a moment, so it gets that moment
/// even from a crowded network. If the total is too large, one connection of the network with the most is closed. First
/// choice are connections that wait for a delayed refusal, then those that have made no progress for the
/// longest time. Pure; times are nanoseconds.
package struct ConnectionLimiter: Sendable {
    private struct PendingConnection: Sendable {
        var place: Place?
        /// Time at which the connection last made progress in its handshake, in nanoseconds.
        var moved: Int64
        /// Sequence number of the connection's last progress, counted over all connections; it orders connections with
        /// the same time.
        var step: Int
        var isDenied = false
    }

    /// A connection that makes no progress for this long counts as stalled: two round trips of a bad network.
    package static let patience: Int64 = 500_000_000

    /// Maximum number of connections, including those that publish.
    let maximum: Int
    /// Maximum number of connections of one client network that do not publish. If there are more, stalled ones are
    /// closed.
    let maximumPerPlace: Int

    private var publishing: Set<Int> = []
    private var waiting: [Int: PendingConnection] = [:]
    private var waitingPerPlace: [Place: Int] = [:]
    private var steps = 0

    package init(maximum: Int, maximumPerPlace: Int) {
        self.maximum = maximum
        self.maximumPerPlace = maximumPerPlace
    }

    package var count: Int { self.publishing.count + self.waiting.count }

    /// True if a network has too many connections; then call ``sweep(now:)`` after ``patience``.
    package var isCrowded: Bool { self.waitingPerPlace.values.contains { $0 > self.maximumPerPlace } }

    /// Adds a connection, or updates its address after the PROXY header.
    ///
    /// - Parameter address: Address of the client; nil if it is unknown, then only ``maximum`` applies.
    /// - Returns: The connections to close; may include this one.
    package mutating func opened(_ number: Int, from address: IPAddress?, now: Int64) -> [Int] {
        self.forget(number)
        let place = address.map { Place($0) }
        self.steps &+= 1
        self.waiting[number] = PendingConnection(place: place, moved: now, step: self.steps)
        var leaving: [Int] = []
        if let place {
            self.waitingPerPlace[place, default: 0] += 1
            leaving += self.thin(place, now: now)
        }
        if self.count > self.maximum {
            let busiest = self.waitingPerPlace.max { ($0.value, $1.key) < ($1.value, $0.key) }
            let crowd = busiest.flatMap { $0.value > 1 ? $0.key : nil }
            leaving += self.take(1) { crowd == nil || $0.place == crowd }
        }
        return leaving
    }

    /// Checks networks with too many connections again and returns the connections to close.
    package mutating func sweep(now: Int64) -> [Int] {
        let crowded = self.waitingPerPlace.filter { $0.value > self.maximumPerPlace }.keys.sorted()
        return crowded.flatMap { self.thin($0, now: now) }
    }

    /// Records that a connection has made progress in its handshake.
    package mutating func advanced(_ number: Int, now: Int64) {
        self.steps &+= 1
        self.waiting[number]?.step = self.steps
        self.waiting[number]?.moved = now
    }

    /// Records that a connection waits for its delayed refusal, such as that of a wrong key. It is the first to be closed
    /// if there are too many.
    package mutating func denied(_ number: Int) { self.waiting[number]?.isDenied = true }

    /// Records that a connection publishes; it is never closed in favor of others.
    package mutating func published(_ number: Int) {
        self.forget(number)
        self.publishing.insert(number)
    }

    /// Removes a connection that has closed or is closing.
    package mutating func closed(_ number: Int) { self.forget(number) }

    /// Removes stalled connections of a network that has too many connections, and returns their numbers.
    private mutating func thin(_ place: Place, now: Int64) -> [Int] {
        let surplus = self.waitingPerPlace[place, default: 0] - self.maximumPerPlace
        guard surplus > 0 else { return [] }
        return self.take(surplus) { $0.place == place && ($0.isDenied || now &- $0.moved >= Self.patience) }
    }

    private mutating func take(_ count: Int, where condition: (PendingConnection) -> Bool) -> [Int] {
        let candidates = self.waiting.filter { condition($0.value) }.sorted {
            ($0.value.isDenied ? 0 : 1, $0.value.step) < ($1.value.isDenied ? 0 : 1, $1.value.step)
        }
        let leaving = candidates.prefix(count).map(\.key)
        for number in leaving { self.forget(number) }
        return leaving
    }

    private mutating func forget(_ number: Int) {
        self.publishing.remove(number)
        guard let known = self.waiting.removeValue(forKey: number), let place = known.place else { return }
        let count = self.waitingPerPlace[place, default: 1] - 1
        self.waitingPerPlace[place] = count > 0 ? count : nil
    }
}
