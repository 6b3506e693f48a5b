package import MediaKernels
import MediaTypes

/// A coded sample with its place on the track's timeline.
package struct GridSample: Sendable {
    package let memory: PacketMemory
    package let range: Range<Int>
    /// Decoding time on the room's timeline, in ticks of the track's timescale. For a track that reorders pictures it is
    /// the encoder's `dts` moved by the reorder delay, so that an IDR picture is decoded when it is shown.
    package var time: Int64
    /// Presentation time in the same ticks.
    package var pts: Int64
    /// Ticks to the next sample when none is missing.
    package let nominal: Int64
    package let isKey: Bool
}

extension GridSample {
    /// The same picture with NAL units of ours in it; the picture itself where they cannot be put.
    func carrying(_ units: [[UInt8]]) -> GridSample {
        guard let memory = PacketInsertion.inserting(units, into: self.memory, self.range) else { return self }
        return GridSample(
            memory: memory, range: 0..<memory.count, time: self.time, pts: self.pts, nominal: self.nominal,
            isKey: self.isKey)
    }
}
