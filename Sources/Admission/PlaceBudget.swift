import MediaTypes
package import PipelineSpec

/// How often something may be done for each place. Pure.
package struct PlaceBudget: Sendable {
    /// Places that are remembered one by one; what comes from others then counts for all of them together.
    static let maximumPlaces = 1024

    private let rate: (perSecond: Int64, burst: Int64)
    private var places: [Place?: RateBudget] = [:]

    /// - Parameter rate: In the long run, and at once.
    package init(_ rate: (perSecond: Int64, burst: Int64)) { self.rate = rate }

    package var count: Int { self.places.count }

    /// Takes one for `address`, in nanoseconds of a monotonic clock; false when there is none. Those whose address is not known
    /// are one place.
    package mutating func take(at address: IPAddress?, now: Int64) -> Bool {
        var place = address.map { Place($0) }
        if self.places[place] == nil {
            if self.places.count >= Self.maximumPlaces {
                self.places = self.places.filter { !$0.value.isFull(at: now) }
            }
            if self.places.count >= Self.maximumPlaces { place = nil }
        }
        return self.places[place, default: RateBudget(self.rate, now: now)].take(now: now)
    }
}
