/// Chooses which layer of a simulcast track is used: the one with the highest bit rate that is being sent.
///
/// The order of the offer does not say which one is the largest, and a browser pauses layers for which its bandwidth is
/// not sufficient. A layer that is 1.5 times as large as the present one for ``promotion`` becomes the ``target``; a
/// layer that has paused for ``pause`` is left at once. The change happens at a key frame of the target.
package struct SimulcastLayers: Sendable {
    /// A layer counts as paused after this time without a packet, in nanoseconds.
    package static let pause: Int64 = 1_000_000_000
    /// Time for which a layer must be larger before it becomes the target, in nanoseconds.
    package static let promotion: Int64 = 2_000_000_000
    /// Time between two decisions in nanoseconds.
    private static let interval: Int64 = 250_000_000

    private struct Layer {
        var meter = RateMeter()
        var lastArrival: Int64?
    }

    private var layers: [Layer]
    /// The layer that is given out; nil before the first key frame.
    package private(set) var current: Int?
    /// The layer that is wanted; nil before the first packet.
    package private(set) var target: Int?
    /// The layer that would be better, and since when.
    private var candidate: (layer: Int, since: Int64)?
    private var lastDecision: Int64?

    /// - Parameter count: Number of layers, at least 1.
    package init(count: Int) { self.layers = Array(repeating: Layer(), count: max(1, count)) }

    /// Counts a packet.
    ///
    /// - Returns: Whether the target has changed: a key frame of it is needed.
    package mutating func received(layer: Int, bytes: Int, at now: Int64) -> Bool {
        guard self.layers.indices.contains(layer) else { return false }
        self.layers[layer].meter.add(bytes, at: now)
        self.layers[layer].lastArrival = now
        if self.target == nil {
            self.target = layer
            return true
        }
        return self.decide(at: now)
    }

    /// A key frame of the target begins: it is the current layer from now on.
    package mutating func switchToTarget() { self.current = self.target }

    /// Compares the layers.
    ///
    /// - Returns: Whether the target has changed.
    package mutating func decide(at now: Int64) -> Bool {
        guard let target = self.target else { return false }
        if let last = self.lastDecision, now - last < Self.interval { return false }
        self.lastDecision = now
        var best: (layer: Int, rate: Int)?
        var own = 0
        for index in self.layers.indices {
            guard let last = self.layers[index].lastArrival, now - last < Self.pause else { continue }
            let rate = self.layers[index].meter.rate(at: now)
            if index == target { own = rate }
            if rate > best?.rate ?? 0 { best = (index, rate) }
        }
        guard let best, best.layer != target else {
            self.candidate = nil
            return false
        }
        let isPaused = self.layers[target].lastArrival.map { now - $0 >= Self.pause } ?? true
        guard isPaused || best.rate * 2 > own * 3 else {
            self.candidate = nil
            return false
        }
        if !isPaused {
            guard let candidate = self.candidate, candidate.layer == best.layer else {
                self.candidate = (best.layer, now)
                return false
            }
            guard now - candidate.since >= Self.promotion else { return false }
        }
        self.target = best.layer
        self.candidate = nil
        return true
    }
}
