/// The first fields of an AAC `AudioSpecificConfig`.
///
/// Spec: ISO/IEC 14496-3 §1.6.2.1.
package struct AudioSpecificConfig: Sendable, Hashable {
    /// Audio object type: 2 AAC-LC, 5 HE-AAC, 29 HE-AAC v2.
    package let objectType: Int
    /// Sample rate in hertz, 7,350 to 96,000; that of the AAC core if spectral band replication (HE-AAC) is signaled.
    package let sampleRate: Int
    /// Number of channels, 1 to 8; 0 if the channels are described in the stream itself.
    package let channels: Int

    /// Codec string for playlists and MP4, `mp4a.40.N`. Spec: RFC 6381.
    package var codecString: String { "mp4a.40.\(self.objectType)" }

    /// Sampling frequencies by index (Table 1.18).
    package static let sampleRates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// Reads the object type, sample rate and channels at the beginning of a configuration record.
    ///
    /// - Returns: `nil` if the record ends before that, or contains a value that is reserved or not supported.
    package init?(record: [UInt8]) {
        var reader = BitReader(record)
        guard let short = reader.bits(5) else { return nil }
        let type = short == 31 ? reader.bits(6).map { $0 + 32 } : short
        guard let type, type > 0, let index = reader.bits(4) else { return nil }
        let rate = index == 15 ? reader.bits(24).map(Int.init) : Self.sampleRates.dropFirst(Int(index)).first
        // Table 1.19: 13 is 24 channels, which this program does not support.
        let counts: [UInt32: Int] = [7: 8, 11: 7, 12: 8, 14: 8]
        guard let rate, (7_350...96_000).contains(rate), let layout = reader.bits(4),
            let channels = counts[layout] ?? (layout < 7 ? Int(layout) : nil)
        else { return nil }
        self.objectType = Int(type)
        self.sampleRate = rate
        self.channels = channels
    }
}
