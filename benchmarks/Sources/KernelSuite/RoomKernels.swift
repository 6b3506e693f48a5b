import BenchCases
import MediaKernels

extension KernelSuite {
    /// A block of a room's sound as the mixer makes it: 21.3 ms of eight sources. × real time is 21.3 ms over the time an
    /// item takes.
    static let roomKernels: [KernelCase] = [
        KernelCase(name: "eight-sources", unit: "float", unitsPerItem: 8 * 2048) { Self.room(drifting: false) },
        KernelCase(name: "eight-sources-drift", unit: "float", unitsPerItem: 8 * 2048) { Self.room(drifting: true) },
    ]

    private static let sources = 8

    private static func room(drifting: Bool) -> KernelWork {
        // Full scale together: the limiter has to look between the samples of every block.
        let sounds = (0..<Self.sources).map { Fixture.sound(pairs: 1024, level: 0.5, seed: UInt64(20 + $0)) }
        return KernelWork(
            kernel: { items in
                var room = FastRoom(sounds: sounds, isDrifting: drifting)
                for item in 0..<items { room.mix(sounds, item) }
                return UInt64(room.block[777].bitPattern) &+ UInt64(room.meters.takePeak(8).bitPattern)
            },
            reference: { items in
                var room = PlainRoom(sources: Self.sources, isDrifting: drifting)
                for item in 0..<items { room.mix(sounds, item) }
                return UInt64(room.block[777].bitPattern) &+ UInt64(room.power.bitPattern)
            },
            agrees: {
                var fast = FastRoom(sounds: sounds, isDrifting: drifting)
                var plain = PlainRoom(sources: Self.sources, isDrifting: drifting)
                for item in 0..<6 {
                    fast.mix(sounds, item)
                    plain.mix(sounds, item)
                }
                // Eight stretched sounds differ eight times as much as one.
                return zip(fast.block, plain.block).allSatisfy { abs($0 - $1) < 2e-3 }
                    // The bank's second filter works a sample later.
                    && abs(fast.meters.power(0, blocks: 1) - plain.power) < 5e-3 * plain.power
            })
    }

    /// Where a volume is on its way in item `item`.
    fileprivate static func ramp(_ item: Int) -> (from: Float, to: Float) {
        item & 1 == 0 ? (0.25, 0.75) : (0.75, 0.25)
    }
}

/// The room by the kernels.
private struct FastRoom {
    var drift: [DriftResampler]
    var stretched: [[Float]]
    var meters: MeterBank
    var limiter = Limiter()
    var block = [Float](repeating: 0, count: 2048)
    let isDrifting: Bool

    init(sounds: [[Float]], isDrifting: Bool) {
        self.drift = sounds.map { _ in DriftResampler() }
        self.stretched = sounds.map { $0 + [0, 0, 0, 0, 0, 0, 0, 0] }
        self.meters = MeterBank(count: sounds.count + 1)
        self.isDrifting = isDrifting
    }

    mutating func mix(_ sounds: [[Float]], _ item: Int) {
        if self.isDrifting {
            for index in sounds.indices {
                // Alternately more and less; not to the same place, where rounding would decide how many pairs there are.
                let ratio = item & 1 == 0 ? 200_000 : -170_000
                self.drift[index].process(sounds[index], into: &self.stretched[index], partsPerBillion: ratio)
            }
        }
        AudioMix.clear(&self.block)
        let (from, to) = KernelSuite.ramp(item)
        for index in sounds.indices {
            let sound = self.isDrifting ? self.stretched[index] : sounds[index]
            // Two lines, as when a ramp ends within the block.
            AudioMix.add(sound, onto: &self.block, pairs: 0..<700, from: from, to: to)
            AudioMix.add(sound, onto: &self.block, pairs: 700..<1024, from: to, to: to)
        }
        for index in stride(from: 0, to: sounds.count, by: 2) {
            let pair = self.isDrifting ? self.stretched : sounds
            self.meters.measure(index, pair[index], index + 1, pair[index + 1])
        }
        AudioMix.sanitize(&self.block)
        self.limiter.process(&self.block)
        self.meters.measure(sounds.count, self.block)
    }
}

/// The same by plain loops.
private struct PlainRoom {
    var drift: [PlainDriftResampler]
    var meters: [PlainMeter]
    var limiter = PlainLimiter()
    var block: [Float] = []
    var power: Float = 0
    let isDrifting: Bool

    init(sources: Int, isDrifting: Bool) {
        self.drift = (0..<sources).map { _ in PlainDriftResampler() }
        self.meters = (0...sources).map { _ in PlainMeter() }
        self.isDrifting = isDrifting
    }

    mutating func mix(_ sounds: [[Float]], _ item: Int) {
        var sum = [Float](repeating: 0, count: 2048)
        let (from, to) = KernelSuite.ramp(item)
        for index in sounds.indices {
            var sound = sounds[index]
            if self.isDrifting {
                let ratio = item & 1 == 0 ? 200_000 : -170_000
                sound = self.drift[index].processed(sound, partsPerBillion: ratio)
            }
            for place in 0..<min(2048, sound.count) {
                let way = Float(place / 2) / 700
                sum[place] += sound[place] * (place < 1400 ? from + (to - from) * way : to)
            }
            let measured = Array(sound.prefix(2048))
            let power = self.meters[index].measured(measured) * Float(measured.count) / 2048
            if index == 0 { self.power = power }
        }
        self.block = self.limiter.processed(sum.map { $0.isNaN ? 0 : max(-8, min(8, $0)) })
        _ = self.meters[sounds.count].measured(self.block)
    }
}
