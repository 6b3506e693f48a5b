extension PacketMemory {
    /// Steps over bytes of a NAL unit, and over those among them that keep start codes out of it and do not count. No allocation.
    ///
    /// Spec: ITU-T H.264 §7.4.1.1 (`emulation_prevention_three_byte`).
    ///
    /// - Parameters:
    ///   - count: Bytes that count.
    ///   - offset: Of the first byte in the payload; behind the last one afterwards.
    ///   - end: Where the unit ends; cut to what is there.
    ///   - zeros: Zero bytes straight before `offset`, and then straight before where that is afterwards.
    /// - Returns: Whether all of them were there. If not, `offset` and `zeros` say nothing any more.
    package func skipEscaped(_ count: Int, from offset: inout Int, to end: Int, zeros: inout Int) -> Bool {
        var place = max(0, offset)
        var run = zeros
        let isWhole = unsafe self.withBytes { bytes -> Bool in
            let limit = min(end, bytes.count)
            var left = count
            while left > 0 {
                guard place < limit else { return false }
                // Checked: `0 <= place < limit <= bytes.count`.
                var byte = unsafe bytes[place]
                place &+= 1
                if byte == 3, run >= 2 {
                    run = 0
                    guard place < limit else { return false }
                    byte = unsafe bytes[place]
                    place &+= 1
                }
                run = byte == 0 ? run &+ 1 : 0
                left &-= 1
            }
            return true
        }
        (offset, zeros) = (place, run)
        return isWhole
    }
}
