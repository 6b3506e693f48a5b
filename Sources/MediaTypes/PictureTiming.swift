/// Information from a sequence parameter set that is needed to read picture timing messages.
///
/// Spec: ITU-T H.264 §E.1.1, §E.1.2.
package struct PictureTimingRules: Sendable, Hashable {
    /// `num_units_in_tick`: length of a clock tick, in units of 1/``timeScale`` s.
    package var unitsInTick: UInt32
    /// `time_scale`: number of time units per second.
    package var timeScale: UInt32
    /// Sizes in bits of the two delay fields at the beginning of each message; `nil` if messages have none.
    private var delayLengths: DelayLengths?
    private var hasPictureStructure: Bool

    private struct DelayLengths: Sendable, Hashable {
        var removal: Int
        var output: Int
    }

    /// Reads the information from the VUI part of a sequence parameter set.
    ///
    /// - Parameter reader: Positioned at `vui_parameters_present_flag`.
    /// - Returns: `nil` if the parameter set has no timing information, or ends early.
    init?(_ reader: inout BitReader) {
        guard reader.flag() == true, Self.skipLook(&reader), reader.flag() == true, let units = reader.bits(32),
            let scale = reader.bits(32), units > 0, scale > 0, reader.flag() != nil
        else { return nil }
        self.unitsInTick = units
        self.timeScale = scale
        for _ in 0..<2 {
            guard let isPresent = reader.flag() else { return nil }
            guard isPresent else { continue }
            guard let lengths = Self.readBufferModel(&reader) else { return nil }
            self.delayLengths = lengths
        }
        // `low_delay_hrd_flag` is present if either model is.
        if self.delayLengths != nil, reader.flag() == nil { return nil }
        guard let hasStructure = reader.flag() else { return nil }
        self.hasPictureStructure = hasStructure
    }

    /// Skips the fields for aspect ratio, overscan, video signal and chroma location; `false` if the bits end.
    private static func skipLook(_ reader: inout BitReader) -> Bool {
        guard let hasRatio = reader.flag() else { return false }
        if hasRatio {
            guard let ratio = reader.bits(8) else { return false }
            if ratio == 255, reader.bits(32) == nil { return false }
        }
        guard let hasOverscan = reader.flag() else { return false }
        if hasOverscan, reader.flag() == nil { return false }
        guard let hasSignal = reader.flag() else { return false }
        if hasSignal {
            guard reader.bits(4) != nil, let hasColor = reader.flag() else { return false }
            if hasColor, reader.bits(24) == nil { return false }
        }
        guard let hasLocation = reader.flag() else { return false }
        return !hasLocation || (reader.unsignedGolomb() != nil && reader.unsignedGolomb() != nil)
    }

    private static func readBufferModel(_ reader: inout BitReader) -> DelayLengths? {
        guard let count = reader.unsignedGolomb(), count <= 31, reader.bits(8) != nil else { return nil }
        for _ in 0...count {
            guard reader.unsignedGolomb() != nil, reader.unsignedGolomb() != nil, reader.flag() != nil else {
                return nil
            }
        }
        guard reader.bits(5) != nil, let removal = reader.bits(5), let output = reader.bits(5), reader.bits(5) != nil
        else { return nil }
        return DelayLengths(removal: Int(removal) + 1, output: Int(output) + 1)
    }

    /// Reads the time code of a picture timing message (`payloadType` 1): a time of day without a time zone.
    ///
    /// Spec: §D.1.3, §D.2.3, Table D-1.
    ///
    /// - Parameter payload: The message without its header.
    /// - Returns: The first time code of the message; `nil` if it has none, or one that is incomplete or invalid.
    package func time(of payload: NALPayloadReader) -> WallClockTime? {
        guard self.hasPictureStructure else { return nil }
        var reader = payload
        if let lengths = self.delayLengths {
            guard reader.bits(lengths.removal) != nil, reader.bits(lengths.output) != nil else { return nil }
        }
        guard let structure = reader.bits(4), structure <= 8, reader.flag() == true, reader.bits(2) != nil,
            let countsFields = reader.flag(), reader.bits(5) != nil, let isFull = reader.flag(),
            reader.bits(2) != nil, let frames = reader.bits(8),
            let (hours, minutes, seconds) = Self.clock(&reader, isFull)
        else { return nil }
        let whole = Int64(hours * 3600 + minutes * 60 + seconds)
        let ticks = Int64(frames) &* Int64(self.unitsInTick) &* (countsFields ? 2 : 1)
        let fraction = TimeMath.scale(ticks, by: TimeMath.nanoseconds, over: Int64(self.timeScale))
        // A frame count of two seconds or more is not a time code.
        guard fraction < 2 * TimeMath.nanoseconds else { return nil }
        return WallClockTime(nanoseconds: whole &* TimeMath.nanoseconds &+ fraction, hasZone: false)
    }

    private static func clock(
        _ reader: inout NALPayloadReader, _ isFull: Bool
    ) -> (hours: UInt32, minutes: UInt32, seconds: UInt32)? {
        func field(_ bits: Int) -> UInt32? { isFull || reader.flag() == true ? reader.bits(bits) : nil }
        guard let seconds = field(6), let minutes = field(6), let hours = field(5), seconds < 60, minutes < 60,
            hours < 24
        else { return nil }
        return (hours, minutes, seconds)
    }
}
