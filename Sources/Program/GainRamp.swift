/// A gain that changes linearly from one value to another, at exact sample positions.
package struct GainRamp: Sendable, Equatable {
    private var from: Float
    private var to: Float
    private var start: Int64
    private var length: Int64

    package init(_ gain: Float) {
        self.from = gain
        self.to = gain
        self.start = 0
        self.length = 0
    }

    /// The final value of the ramp.
    package var target: Float { self.to }

    /// Returns the gain at a sample position; before the ramp its first value, after it the final value.
    package func value(at position: Int64) -> Float {
        guard position < self.start &+ self.length else { return self.to }
        guard position > self.start else { return self.from }
        return self.from + (self.to - self.from) * Float(position &- self.start) / Float(self.length)
    }

    /// Changes the gain linearly to `gain` within `length` sample pairs, starting at `position`, from the gain at that
    /// position. Does nothing if `gain` is the final value already.
    package mutating func move(to gain: Float, at position: Int64, over length: Int64) {
        guard gain != self.to else { return }
        self.from = self.value(at: position)
        self.to = gain
        self.start = position
        self.length = max(1, length)
    }

    /// Returns the first position after `position` at which the ramp starts or ends; ``Int64/max`` if it has ended.
    func nextBend(after position: Int64) -> Int64 {
        if self.start > position { return self.start }
        let end = self.start &+ self.length
        return end > position ? end : .max
    }
}
