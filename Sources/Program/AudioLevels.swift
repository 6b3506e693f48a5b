import MediaKernels
package import MediaTypes
import Libc

/// Audio levels of the program and its sources at one moment.
package struct AudioLevels: Sendable, Equatable {
    /// Level of one signal, in thousandths of a decibel.
    package struct Level: Sendable, Equatable {
        /// Lowest reported level, −100 dB, also used for silence.
        package static let floor: Int64 = -100_000

        /// Sample peak since the last report, in thousandths of dBFS.
        package var peak = Level.floor
        /// Loudness in thousandths of LUFS: `momentary` over the last 0.4 s, `shortTerm` over the last 3 s. Spec: ITU-R
        /// BS.1770-4, EBU Tech 3341.
        package var momentary = Level.floor
        package var shortTerm = Level.floor
    }

    /// Position after the last measured sample pair, in pairs since the room's `origin`.
    package var position: Int64
    /// Level of the program, after the limiter.
    package var program: Level
    /// Level of each source, before its volume; a source that sent nothing has the lowest level.
    package var sources: [SourceID: Level]
}

extension AudioLevels.Level {
    /// Reads meter `index` and restarts its peak measurement.
    init(_ meters: inout MeterBank, _ index: Int) {
        self.peak = Self.thousandths(of: 20, meters.takePeak(index), offset: 0)
        self.momentary = Self.thousandths(
            of: 10, meters.power(index, blocks: MeterBank.momentaryBlocks), offset: -0.691)
        self.shortTerm = Self.thousandths(
            of: 10, meters.power(index, blocks: MeterBank.shortTermBlocks), offset: -0.691)
    }

    private static func thousandths(of factor: Float, _ value: Float, offset: Float) -> Int64 {
        guard value > 1e-12 else { return Self.floor }
        return max(Self.floor, Int64(((factor * log10f(value) + offset) * 1000)))
    }
}
