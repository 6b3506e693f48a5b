import MediaTypes
package import PipelineSpec

/// A rate limit per client network. Pure.
package struct ClientRateLimiter: Sendable {
    /// Maximum number of networks that are tracked separately; further ones and unknown addresses share one limit.
    static let maximumPlaces = 1024

    private let rate: (perSecond: Int64, burst: Int64)
    private var places: [Place?: TokenBucket] = [:]

    /// Creates a limiter with the same rate for each client network.
    ///
    /// - Parameter rate: Sustained rate per second, and burst: the number of events allowed at once.
    package init(_ rate: (perSecond: Int64, burst: Int64)) { self.rate = rate }

    package var count: Int { self.places.count }

    /// Counts one event of the network of `address`; returns false if its rate limit is exceeded. `now` is in
    /// nanoseconds of a monotonic clock. All unknown addresses share one limit.
    package mutating func take(at address: IPAddress?, now: Int64) -> Bool {
        var place = address.map { Place($0) }
        if self.places[place] == nil {
            if self.places.count >= Self.maximumPlaces {
                self.places = self.places.filter { !$0.value.isFull(at: now) }
            }
            if self.places.count >= Self.maximumPlaces { place = nil }
        }
        return self.places[place, default: TokenBucket(self.rate, now: now)].take(now: now)
    }
}
