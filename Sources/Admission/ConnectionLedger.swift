package import PipelineSpec

/// Which connections there are, and which has to go when there are too many.
///
/// Those that publish are never closed for others. Of those that do not, each place may have a few that stand still; an encoder
/// gets on all the time and is through in a moment, so it has its moment even behind an address full of others. When there are
/// too many in all, one of the place that has most goes. It is always one that is only waiting to be told that its key is wrong,
/// if there is one, and otherwise the one that has got nowhere for the longest time. Pure; times are nanoseconds.
package struct ConnectionLedger: Sendable {
    private struct Waiting: Sendable {
        var place: Place?
        /// When it last got a step further.
        var moved: Int64
        /// Grows with every step of any connection.
        var step: Int
        var isDenied = false
    }

    /// How long one may take for a step before it stands still: two round trips of a bad network.
    package static let patience: Int64 = 500_000_000

    /// Connections, those that publish included.
    let maximum: Int
    /// Connections of one place that do not publish and stand still.
    let maximumPerPlace: Int

    private var publishing: Set<Int> = []
    private var waiting: [Int: Waiting] = [:]
    private var waitingPerPlace: [Place: Int] = [:]
    private var steps = 0

    package init(maximum: Int, maximumPerPlace: Int) {
        self.maximum = maximum
        self.maximumPerPlace = maximumPerPlace
    }

    package var count: Int { self.publishing.count + self.waiting.count }

    /// Some place has more than it may keep: ``sweep(now:)`` after ``patience``.
    package var isCrowded: Bool { self.waitingPerPlace.values.contains { $0 > self.maximumPerPlace } }

    /// A connection has come, or it has become known where it comes from.
    ///
    /// - Parameter address: nil: not known, and then only ``maximum`` holds.
    /// - Returns: What has to be closed; perhaps the connection itself.
    package mutating func opened(_ number: Int, from address: IPAddress?, now: Int64) -> [Int] {
        self.forget(number)
        let place = address.map { Place($0) }
        self.steps &+= 1
        self.waiting[number] = Waiting(place: place, moved: now, step: self.steps)
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

    /// Looks again at places that have too many.
    package mutating func sweep(now: Int64) -> [Int] {
        let crowded = self.waitingPerPlace.filter { $0.value > self.maximumPerPlace }.keys.sorted()
        return crowded.flatMap { self.thin($0, now: now) }
    }

    /// It has got a step further on its way to publish.
    package mutating func advanced(_ number: Int, now: Int64) {
        self.steps &+= 1
        self.waiting[number]?.step = self.steps
        self.waiting[number]?.moved = now
    }

    /// It will be turned away, and has not been told yet.
    package mutating func denied(_ number: Int) { self.waiting[number]?.isDenied = true }

    /// It publishes from now on, and is closed for nobody.
    package mutating func published(_ number: Int) {
        self.forget(number)
        self.publishing.insert(number)
    }

    /// It is gone, or on its way out.
    package mutating func closed(_ number: Int) { self.forget(number) }

    /// Takes those that stand still out of a place that has too many.
    private mutating func thin(_ place: Place, now: Int64) -> [Int] {
        let surplus = self.waitingPerPlace[place, default: 0] - self.maximumPerPlace
        guard surplus > 0 else { return [] }
        return self.take(surplus) { $0.place == place && ($0.isDenied || now &- $0.moved >= Self.patience) }
    }

    private mutating func take(_ count: Int, where condition: (Waiting) -> Bool) -> [Int] {
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
