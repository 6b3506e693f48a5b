package import PipelineSpec

/// Which connections there are, and which has to go when there are too many.
///
/// Those that publish are never closed for others. Of those that do not, each address may have a few; one more closes the oldest
/// of that address, since whoever has just come is more likely to be somebody who will publish than whoever has waited. When
/// there are too many in all, the oldest of the address that has most goes. Pure.
package struct ConnectionLedger: Sendable {
    /// What counts as one place: an IPv4 address, or the /64 an IPv6 address lies in, which one customer has whole.
    private typealias Place = AddressRange

    /// Connections, those that publish included.
    let maximum: Int
    /// Connections of one place that do not publish.
    let maximumPerPlace: Int

    private var publishing: Set<Int> = []
    /// By number, which grows with age.
    private var waiting: [Int: Place?] = [:]
    private var waitingPerPlace: [Place: Int] = [:]

    package init(maximum: Int, maximumPerPlace: Int) {
        self.maximum = maximum
        self.maximumPerPlace = maximumPerPlace
    }

    package var count: Int { self.publishing.count + self.waiting.count }

    /// A connection has come, or it has become known where it comes from.
    ///
    /// - Parameter address: nil: not known, and then only ``maximum`` holds.
    /// - Returns: What has to be closed; perhaps the connection itself.
    package mutating func opened(_ number: Int, from address: IPAddress?) -> [Int] {
        self.forget(number)
        let place = address.map { AddressRange(address: $0, bits: $0.isIPv4 ? 32 : 64) }
        self.waiting[number] = .some(place)
        var leaving: [Int] = []
        if let place {
            self.waitingPerPlace[place, default: 0] += 1
            if self.waitingPerPlace[place, default: 0] > self.maximumPerPlace, let oldest = self.oldest(of: place) {
                self.forget(oldest)
                leaving.append(oldest)
            }
        }
        if self.count > self.maximum {
            let busiest = self.waitingPerPlace.max { ($0.value, $1.key.description) < ($1.value, $0.key.description) }
            let crowd = busiest.flatMap { $0.value > 1 ? $0.key : nil }
            if let oldest = crowd.flatMap({ self.oldest(of: $0) }) ?? self.waiting.keys.min() {
                self.forget(oldest)
                leaving.append(oldest)
            }
        }
        return leaving
    }

    /// It publishes from now on, and is closed for nobody.
    package mutating func published(_ number: Int) {
        self.forget(number)
        self.publishing.insert(number)
    }

    /// It is gone, or on its way out.
    package mutating func closed(_ number: Int) { self.forget(number) }

    private func oldest(of place: Place) -> Int? { self.waiting.filter { $0.value == place }.keys.min() }

    private mutating func forget(_ number: Int) {
        self.publishing.remove(number)
        guard let known = self.waiting.removeValue(forKey: number), let place = known else { return }
        let count = self.waitingPerPlace[place, default: 1] - 1
        self.waitingPerPlace[place] = count > 0 ? count : nil
    }
}
