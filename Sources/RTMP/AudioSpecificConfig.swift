/// The first fields of an `AudioSpecificConfig`.
///
/// Spec: ISO/IEC 14496-3 §1.6.2.1. Only what decides whether the record can be meant seriously.
package struct AudioSpecificConfig: Sendable, Hashable {
    /// Hertz, 8,000 to 96,000.
    package let sampleRate: Int
    /// channelConfiguration: 0, that the channels are described elsewhere, 1 to 7, 11, 12 or 14; the others are reserved, or more
    /// than eight channels.
    package let channelConfiguration: Int

    /// Sampling frequencies by index (Table 1.18).
    private static let rates = [
        96_000, 88_200, 64_000, 48_000, 44_100, 32_000, 24_000, 22_050, 16_000, 12_000, 11_025, 8_000, 7_350,
    ]

    /// - Returns: nil when the record is too short, or its rate or channels are none that an encoder sends.
    package init?(record: [UInt8]) {
        guard record.count >= 2 else { return nil }
        var bits: UInt64 = 0
        for index in 0..<8 { bits = bits << 8 | (index < record.count ? UInt64(record[index]) : 0) }
        func field(_ start: Int, _ length: Int) -> Int { Int((bits << UInt64(start)) >> UInt64(64 - length)) }
        var position = field(0, 5) == 31 ? 11 : 5
        let index = field(position, 4)
        position += 4
        if index == 15 {
            self.sampleRate = field(position, 24)
            position += 24
        } else {
            guard AudioSpecificConfig.rates.indices.contains(index) else { return nil }
            self.sampleRate = AudioSpecificConfig.rates[index]
        }
        self.channelConfiguration = field(position, 4)
        let isUsual = self.channelConfiguration <= 7 || [11, 12, 14].contains(self.channelConfiguration)
        guard (7_350...96_000).contains(self.sampleRate), isUsual else { return nil }
    }
}
