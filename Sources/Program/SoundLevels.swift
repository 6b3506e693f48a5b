import MediaKernels
package import MediaTypes

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// How loud the program and its sources are, as measured at one moment.
package struct SoundLevels: Sendable, Equatable {
    /// One sound's level, in thousandths of a decibel.
    package struct Level: Sendable, Equatable {
        /// Silence, and everything below it.
        package static let floor: Int64 = -100_000

        /// The largest sample since the last report, against full scale (dBFS).
        package var peak = Level.floor
        /// Loudness over the last 0.4 s and the last 3 s (LUFS). Spec: ITU-R BS.1770-4, EBU Tech 3341.
        package var momentary = Level.floor
        package var shortTerm = Level.floor
    }

    /// The first pair behind what was measured.
    package var position: Int64
    /// Behind the limiter.
    package var program: Level
    /// What each source sends, before its volume; a source that sent nothing reads as silence.
    package var sources: [SourceID: Level]
}

extension SoundLevels.Level {
    /// Reads meter `index` and begins its next peak.
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
