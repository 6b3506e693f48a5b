package import MediaKernels

/// A coded sample with its time on the track's timeline.
package struct PlacedSample: Sendable {
    package let memory: PacketMemory
    package let range: Range<Int>
    /// Decoding time on the room's timeline, in ticks of the track's timescale. For a track with reordered frames it is
    /// the encoder's `dts` plus the reorder delay, so that the decoding time of an IDR frame is its presentation time.
    package var time: Int64
    /// Presentation time in the same ticks.
    package var pts: Int64
    /// Nominal duration: ticks to the next sample if none is missing.
    package let nominal: Int64
    package let isKey: Bool
}

extension PlacedSample {
    /// Returns the same frame with additional NAL units, or the unchanged frame if they cannot be inserted.
    func carrying(_ units: [[UInt8]]) -> PlacedSample {
        guard let memory = NALInsertion.inserting(units, into: self.memory, self.range) else { return self }
        return PlacedSample(
            memory: memory, range: 0..<memory.count, time: self.time, pts: self.pts, nominal: self.nominal,
            isKey: self.isKey)
    }
}
