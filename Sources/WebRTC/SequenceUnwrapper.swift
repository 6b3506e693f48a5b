/// Extends 16-bit sequence numbers to 64 bits that do not wrap.
///
/// Spec: RFC 3550 A.1, RFC 1982: a number is taken as the nearest one to the highest so far, in either direction.
package struct SequenceUnwrapper: Sendable {
    /// Highest number so far; nil before the first.
    package private(set) var highest: Int64?

    package init() {}

    /// The extended number, without remembering it. The first number has one wrap, so that earlier ones are positive.
    package func peek(_ sequence: UInt16) -> Int64 {
        guard let highest = self.highest else { return 0x1_0000 + Int64(sequence) }
        let step = Int16(bitPattern: sequence &- UInt16(truncatingIfNeeded: highest))
        return highest &+ Int64(step)
    }

    /// The extended number, which is remembered if it is the highest.
    package mutating func unwrap(_ sequence: UInt16) -> Int64 {
        let extended = self.peek(sequence)
        self.note(extended)
        return extended
    }

    /// Remembers an extended number that ``peek(_:)`` returned.
    package mutating func note(_ extended: Int64) { self.highest = max(self.highest ?? extended, extended) }

    /// Continues at another number, which is taken as higher than all before.
    ///
    /// - Returns: The extended number.
    package mutating func restart(at sequence: UInt16) -> Int64 {
        guard let highest = self.highest else { return self.unwrap(sequence) }
        let step = sequence &- UInt16(truncatingIfNeeded: highest)
        // A step of 0 would repeat a number.
        let extended = highest &+ (step == 0 ? 0x1_0000 : Int64(step))
        self.highest = extended
        return extended
    }
}

/// Extends 32-bit RTP times to 64 bits that do not wrap. Steps of less than 2³¹ ticks in either direction are kept.
package struct RTPTimeUnwrapper: Sendable {
    private var last: Int64?

    package init() {}

    /// The extended time. The first one has one wrap, so that earlier ones are positive.
    package mutating func unwrap(_ timestamp: UInt32) -> Int64 {
        let time = self.peek(timestamp)
        self.last = time
        return time
    }

    /// The extended time, without remembering it.
    package func peek(_ timestamp: UInt32) -> Int64 {
        guard let last = self.last else { return 0x1_0000_0000 + Int64(timestamp) }
        let step = Int32(bitPattern: timestamp &- UInt32(truncatingIfNeeded: last))
        return last &+ Int64(step)
    }
}
