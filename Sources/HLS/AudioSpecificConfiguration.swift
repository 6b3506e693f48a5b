import MediaTypes

/// What an AAC `AudioSpecificConfig` says.
///
/// Spec: ISO/IEC 14496-3 §1.6.2.1.
package struct AudioSpecificConfiguration: Sendable, Hashable {
    /// Audio object type: 2 AAC-LC, 5 HE-AAC, 29 HE-AAC v2.
    package let objectType: Int
    /// Samples per second; of the core where spectral band replication is signaled.
    package let sampleRate: Int
    /// 1…8; 0 where the stream itself describes its channels.
    package let channels: Int

    /// RFC 6381: `mp4a.40.N`.
    package var codecString: String { "mp4a.40.\(self.objectType)" }

    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// - Returns: `nil` where the bytes end early or hold a reserved value.
    package init?(_ bytes: [UInt8]) {
        var reader = BitReader(bytes)
        guard let short = reader.bits(5) else { return nil }
        var type = short
        if short == 31 {
            guard let long = reader.bits(6) else { return nil }
            type = 32 + long
        }
        guard type > 0, let index = reader.bits(4) else { return nil }
        let rate: Int
        if index == 15 {
            guard let explicit = reader.bits(24), explicit > 0 else { return nil }
            rate = Int(explicit)
        } else {
            guard Int(index) < Self.rates.count else { return nil }
            rate = Self.rates[Int(index)]
        }
        // ISO/IEC 14496-3 Table 1.19: 13 is 24 channels, which no part of this program takes.
        let counts: [UInt32: Int] = [7: 8, 11: 7, 12: 8, 14: 8]
        guard let layout = reader.bits(4), let channels = counts[layout] ?? (layout < 7 ? Int(layout) : nil) else {
            return nil
        }
        self.objectType = Int(type)
        self.sampleRate = rate
        self.channels = channels
    }
}
