import MediaKernels

/// ``Limiter`` without any of its tricks: arrays in, arrays out, one sample after the other.
struct PlainLimiter {
    private let ceiling: Float = 0.891_25
    private var gain: Float = 1
    private var waiting: [Float] = Array(repeating: 0, count: Limiter.latencyPairs * 2)
    private var allowed: [Float] = Array(repeating: 1, count: Limiter.lookaheadBlocks)

    mutating func processed(_ samples: [Float]) -> [Float] {
        var output: [Float] = []
        let size = Limiter.blockPairs * 2
        for start in stride(from: 0, to: samples.count - size + 1, by: size) {
            let block = samples[start..<start + size]
            let peak = block.map { abs($0) }.max() ?? 0
            let limit = peak > self.ceiling ? self.ceiling / peak : 1
            let target = min(limit, self.allowed.min() ?? 1)
            // The way back is taken slowly: 1.5 % of it a block.
            let next = target < self.gain ? target : min(target, self.gain + (1 - self.gain) * 0.015 + 1e-6)
            let step = (next - self.gain) / Float(Limiter.blockPairs)
            for index in 0..<size { output.append(self.waiting[index] * (self.gain + step * Float(index / 2))) }
            self.waiting = Array(self.waiting[size...]) + block
            self.allowed = Array(self.allowed[1...]) + [limit]
            self.gain = next
        }
        return output
    }
}
